"""The jobs as users of other tools would write them; one module per tool, one process per module."""
