"""Plays are taken apart into roles, and roles into samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fltheory.datasets.shakespeare import LENGTH, SYMBOLS, Shakespeare, next_characters, speeches, symbols
from fltheory.errors import InvalidParameter

PLAY = """\
A PLAY

PERSONS REPRESENTED.

KING, a king.
First Lord.

ACT I.

SCENE I. A room.

[Enter KING, and others
with trumpets.]

KING.
What  news,
   my lord?

First Lord.
None [aside] at all.

[Trumpets.]

What noise is this?

I.

A song.

LADY M. OF
Go.

KING:[To the Lord]
Farewell.

Amen.

BOTH

Good night.

SCENE II. Elsewhere.

Nobody says this.

king.
Nor is this a heading.

CHORUS.
Mind the end.

THE END
"""


def decoded(numbers: Any) -> str:
    return "".join(SYMBOLS[number] for number in numbers)


def test_speeches_belong_to_the_role_in_their_heading() -> None:
    assert speeches(PLAY) == {
        "KING": "What news, my lord? Farewell. Amen.",
        "FIRST LORD": "None at all. What noise is this? I. A song.",
        "LADY M OF": "Go.",
        "BOTH": "Good night.",
        "CHORUS": "Mind the end.",
    }


def test_a_text_without_acts_is_no_play() -> None:
    with pytest.raises(InvalidParameter, match=r"a play must have acts, got a text that starts with .Shall I compare"):
        speeches("Shall I compare thee to a summer's day?")


def test_symbols_are_numbered_by_their_place() -> None:
    assert len(SYMBOLS) == len(set(SYMBOLS)) == 80
    text = 'To be, or not: (1601) "O"; that\'s & [it]>} ?!-.'
    assert decoded(symbols(text)) == text
    assert decoded(symbols("a{b}_c@d/é")) == "ab}cd"


def spoken(length: int) -> str:
    """Return a text in which every stretch of a few characters is unlike all others."""
    return "".join(f"{number} " for number in range(length))[:length]


@pytest.mark.parametrize(("stride", "between"), [(1, 80), (3, 26), (80, 1), (100, 0)])
def test_samples_are_windows_with_the_next_character(stride: int, between: int) -> None:
    texts = [spoken(2_000).strip(), spoken(1_500).strip() + "!"]
    play = f"ACT I.\n\nROMEO.\n{texts[0]}\n\nNURSE.\nTis so.\n\nJULIET.\n{texts[1]}\n"
    found = next_characters([play], min_samples=5, stride=stride)
    assert found.train_owners is not None
    assert found.test_owners is not None
    for owner, text in enumerate(texts):
        starts = list(range(0, len(text) - LENGTH, stride))
        train = 4 * len(starts) // 5
        for mine, inputs, labels, kept in (
            (found.train_owners == owner, found.train_inputs, found.train_labels, starts[:train]),
            (found.test_owners == owner, found.test_inputs, found.test_labels, starts[train + between :]),
        ):
            assert [decoded(row) for row in inputs[mine]] == [text[at : at + LENGTH] for at in kept]
            assert decoded(labels[mine]) == "".join(text[at + LENGTH] for at in kept)
        # No character is both trained and tested on, and no more samples are left out than that takes.
        last = starts[train - 1] + LENGTH
        assert starts[train + between] > last
        assert between == 0 or starts[train + between - 1] <= last
    assert found.num_classes == 80
    assert found.train_owners.max() == 1


def test_roles_of_one_name_in_two_plays_are_two_clients() -> None:
    plays = [f"ACT I.\n\nKING.\n{spoken(900)}\n" for _ in range(2)]
    found = next_characters(plays, min_samples=500, stride=1)
    assert np.bincount(found.train_owners).tolist() == [656, 656]


def test_small_roles_are_left_out() -> None:
    play = f"ACT I.\n\nROMEO.\n{spoken(900).strip()}\n\nJULIET.\n{spoken(700).strip()}\n"
    assert next_characters([play], min_samples=700, stride=1).train_owners.max() == 0
    with pytest.raises(InvalidParameter, match=r"Shakespeare\.min_samples must be at most 820, the samples of the lar"):
        next_characters([play], min_samples=821, stride=1)


@pytest.mark.parametrize(("stride", "fewest"), [(1, 401), (10, 41), (81, 2)])
def test_every_role_has_samples_to_train_and_to_test_on(stride: int, fewest: int) -> None:
    Shakespeare(min_samples=fewest, stride=stride)
    with pytest.raises(InvalidParameter, match=rf"Shakespeare\.min_samples must be an integer >= {fewest}"):
        Shakespeare(min_samples=fewest - 1, stride=stride)
    length = LENGTH + 1 + stride * (fewest - 1)
    found = next_characters([f"ACT I.\n\nROMEO.\n{'x' * length}\n"], min_samples=fewest, stride=stride)
    assert len(found.train_labels) >= 1
    assert len(found.test_labels) >= 1


def test_strides_are_positive() -> None:
    with pytest.raises(InvalidParameter, match=r"Shakespeare\.stride must be an integer >= 1"):
        Shakespeare(stride=0)
