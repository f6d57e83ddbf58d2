"""Run the benchmarks: ``python benchmarks/run.py [JOB ...] [--quick] [--json FILE]``."""

import runpy
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])
    runpy.run_module("benchmarks", run_name="__main__", alter_sys=True)
