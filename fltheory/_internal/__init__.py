"""Infrastructure that no user imports: arguments, random streams, processes, provenance, compiled loops."""
