"""What can be collected: without the extras PyTorch, Flower and Sphinx, modules that import them are left out."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("torch") else ["fltheory/deep/*", "tests/unit/deep/*"]
collect_ignore_glob += ["docs/conf.py", "docs/_extensions/*", "docs/_build/*"]  # imported by Sphinx only
if not find_spec("flwr"):
    collect_ignore_glob.append("fltheory/conformance/flower.py")
