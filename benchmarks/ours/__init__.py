"""The same jobs through fltheory's public interface, with the ordinary algorithm files."""
