"""Statements of one paper; the tag is explained in :data:`fltheory.bounds._claim.PAPERS`."""
