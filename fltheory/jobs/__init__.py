"""What the command line does, as functions: check, falsify, replay, validate.

The command line parses options, calls these, and prints; a script or a notebook calls the same functions and
gets objects.
"""
