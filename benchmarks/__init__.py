"""Side-by-side timings of fltheory and of what a researcher would use instead; see ``README.md``."""
