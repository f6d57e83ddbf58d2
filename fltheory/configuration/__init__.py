"""Experiments written down in TOML: reading them, and what can be named in them."""
