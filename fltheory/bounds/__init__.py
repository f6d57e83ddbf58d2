"""Published statements as SymPy objects, one file each, in one folder per paper."""
