"""Every public name has a docstring, and every parameter of a public function or class a description."""

from __future__ import annotations

import enum
import importlib
import inspect
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

MODULES = (
    "fltheory",
    "fltheory.algorithms",
    "fltheory.claims",
    "fltheory.conformance",
    "fltheory.datasets",
    "fltheory.participation",
    "fltheory.problems",
    "fltheory.simulation.schedules",
    "fltheory.strategies",
)


def public(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Yield the public functions and classes of a module."""
    names = getattr(module, "__all__", None) or [
        name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__
    ]
    for name in names:
        value = getattr(module, name)
        if not name.startswith("_") and (inspect.isclass(value) or inspect.isroutine(value)):
            yield name, value


def described(doc: str) -> set[str]:
    """Return the names that a docstring describes: the heads of its sections, and what stands between backquotes."""
    heads = {name.strip(" *") for line in re.findall(r"(?m)^[A-Za-z_*][\w*, ]*$", doc) for name in line.split(",")}
    return heads | set(re.findall(r"``(\w+)[^`]*``", doc))


def lacking(value: Any) -> set[str]:
    """Return the parameters that a docstring does not describe."""
    if inspect.isclass(value) and (issubclass(value, BaseException | enum.Enum) or getattr(value, "_is_protocol", 0)):
        return set()
    parameters = {name for name in inspect.signature(value).parameters if not name.startswith("_")}
    return parameters - described(inspect.getdoc(value) or "")


@pytest.mark.parametrize("name", MODULES)
def test_every_parameter_of_a_public_name_is_described(name: str) -> None:
    module = importlib.import_module(name)
    missing = {public_name: found for public_name, value in public(module) if (found := lacking(value))}
    assert not missing


@pytest.mark.parametrize("name", MODULES)
def test_public_functions_say_what_they_return(name: str) -> None:
    silent = []
    for public_name, value in public(importlib.import_module(name)):
        doc = inspect.getdoc(value) or ""
        assert doc, f"{name}.{public_name} has no docstring"
        if inspect.isfunction(value) and inspect.signature(value).return_annotation not in (None, "None"):
            silent += [public_name] if not re.search(r"(?m)^(Returns|Yields)$|^(Return|Yield) ", doc) else []
    assert not silent


def test_a_missing_description_is_noticed() -> None:
    def add(left: int, right: int) -> int:
        """Add.

        Parameters
        ----------
        left
            A number.
        """
        return left + right

    assert lacking(add) == {"right"}
