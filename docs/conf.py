"""Configuration of the documentation; ``sphinx-build -W -b html docs docs/_build`` builds it without a network."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_extensions"), str(HERE.parent)]

import fltheory  # noqa: E402  (found on the path that is set above)

project = "fltheory"
author = "The fltheory developers"
project_copyright = author
version = release = fltheory.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "formulas_as_mathml",
    "generated_pages",
    "linked_names",
    "trimmed_examples",
]
exclude_patterns = ["_build", "_extensions", "notebooks"]
root_doc = "index"

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # numpydoc sections say what arguments are
autosummary_generate = False
napoleon_numpy_docstring = True
napoleon_google_docstring = False
napoleon_use_rtype = False
python_use_unqualified_type_names = True

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = f"fltheory {release}"
html_static_path = ["_static"]
html_css_files = ["formulas.css"]
html_math_renderer = "mathml"
html_show_copyright = False
html_copy_source = False
