"""Importing this lets a process end with the one that has started it; for the process of which workers are copies."""

from fltheory._internal.endings import end_with_starter

end_with_starter()
