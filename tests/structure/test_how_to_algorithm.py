"""The algorithm of the how-to obeys the laws that the page lists; without its care for empty rounds it would not."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import pytest

from tests import laws
from tests.federations import federation

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "add-an-algorithm.md"
LAWS = (
    laws.empty_rounds_change_nothing,
    laws.absent_clients_keep_their_memory,
    laws.absent_clients_are_not_consulted,
    laws.clients_have_no_order,
)


def heavy_ball(**replaced: str) -> Any:
    """Return the algorithm of the page, with parts of its text replaced."""
    names: dict[str, Any] = {"__name__": laws.__name__}  # a module that is loaded, which dataclasses look for
    for example in doctest.DocTestParser().get_examples(PAGE.read_text(encoding="utf-8")):
        source = example.source
        for old, new in replaced.items():
            source = source.replace(old, new)
        exec(compile(source, str(PAGE), "exec"), names)
        if "HeavyBall" in names:
            return names["HeavyBall"](momentum=0.5)
    raise AssertionError("the page has no algorithm")


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("seed", range(3))
def test_the_algorithm_of_the_page_obeys_the_laws(law: Any, seed: int) -> None:
    law(heavy_ball(), federation(seed))


def test_forgetting_empty_rounds_breaks_a_law() -> None:
    forgetful = heavy_ball(**{"work.active.any(axis=1, keepdims=True)": "np.ones((1, 1), dtype=bool)"})
    with pytest.raises(AssertionError):
        laws.empty_rounds_change_nothing(forgetful, federation(0))
