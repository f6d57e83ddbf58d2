"""Notes that several statements share: docstrings of modules of a paper that are no claims, and links to them."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import re
from collections.abc import Callable, Iterator

from fltheory.bounds import catalogue
from fltheory.bounds.papers import PAPERS

_MODULE = re.compile(r":mod:`(?:[^`<]*<)?~?\.?(fltheory\.bounds(?:\.\w+)+)>?`")


def linked(docstring: str, link: Callable[[str, str], str]) -> str:
    """Return a docstring in which ``link(words, target)`` stands for every reference to a claim or to a note.

    The target is the id of a claim, or the name of the module of a note.

    >>> linked("See :mod:`~fltheory.bounds.li.theorem_1`, :mod:`fltheory.bounds.li._setting`.", "[{}]({})".format)
    'See [Theorem 1, (4), (5)](li.theorem-1), [notes “setting”](fltheory.bounds.li._setting).'
    """

    def replaced(match: re.Match[str]) -> str:
        entry = _claims().get(match[1])
        if entry is not None:
            return link(entry.reference, entry.id)
        return link(f"notes “{title(match[1])}”", match[1]) if importlib.util.find_spec(match[1]) else match[0]

    return _MODULE.sub(replaced, docstring)


def targets(docstring: str) -> Iterator[str]:
    """Yield the modules of the notes that a docstring refers to, also by way of other notes."""
    found = [docstring]
    seen = set[str]()
    while found:
        for name in _MODULE.findall(found.pop()):
            if name not in seen and name not in _claims() and importlib.util.find_spec(name):
                seen.add(name)
                found.append(text(name))
                yield name


def text(name: str) -> str:
    """Return the docstring of a module."""
    return inspect.getdoc(importlib.import_module(name)) or ""


def title(name: str) -> str:
    """Return a short name for a note.

    >>> title("fltheory.bounds.cfl._rate_sweeps")
    'rate sweeps'
    """
    return name.rpartition(".")[2].strip("_").replace("_", " ")


def owner(name: str) -> str:
    """Return the paper of a note, or what several papers have in common.

    >>> owner("fltheory.bounds.li._setting"), owner("fltheory.bounds.flexible_participation.round")
    ('Li et al. (2020)', 'flexible participation')
    """
    folder = name.split(".")[2]
    return PAPERS[folder].short if folder in PAPERS else folder.replace("_", " ")


def anchor(target: str) -> str:
    """Return where a claim or a note stands on the page of all claims.

    >>> anchor("li.theorem-1"), anchor("fltheory.bounds.li._setting")
    ('li.theorem-1', 'notes-li-setting')
    """
    if not target.startswith("fltheory.bounds."):
        return target
    return "notes-" + target.removeprefix("fltheory.bounds.").replace("._", ".").replace(".", "-")


@functools.cache
def _claims() -> dict[str, catalogue.Entry]:
    """Return the claims of the package by the name of their module."""
    return {entry.name: entry for entry in catalogue.index().values()}
