"""Importing this lets a process end with the one that has started it; for the process of which workers are copies."""

import os

from fltheory._internal.endings import end_with_starter

NUMBER = os.getpid()
"""Of the original; copies know it."""

end_with_starter()
