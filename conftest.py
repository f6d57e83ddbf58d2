"""What can be collected: PyTorch is an extra, and without it modules that import it have no examples to run."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("torch") else ["fltheory/deep/*", "tests/unit/deep/*"]
