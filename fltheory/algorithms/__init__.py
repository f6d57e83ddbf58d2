"""One file per algorithm; :mod:`fltheory.catalogue` finds them by scanning this folder."""
