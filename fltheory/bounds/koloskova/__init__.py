"""Statements of one paper; the tag is explained in :data:`fltheory.bounds.papers.PAPERS`."""
