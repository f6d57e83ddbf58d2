"""Files of counterexamples: one instance each, with all that is needed to evaluate it again."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fltheory._internal import shapes
from fltheory._internal.files import read_json, write_json
from fltheory.errors import InvalidParameter
from fltheory.validation.verdict import Counterexample

FORMAT = "fltheory-counterexample-1"

SHAPE = {
    **dict.fromkeys(("id", "variant", "lhs", "rhs", "sign", "arithmetic"), str),
    "parameters": dict,
    "ratio": (float, None),
    "relation": int,
    "where": shapes.Values(int),
    "seed": int,
    "quantities": shapes.Optional([{"symbol": str, "meaning": str, "values": [str]}]),
}
"""What a counterexample looks like, in a file of its own or in a ledger."""


def file_of(id_: str, variant: str) -> str:
    """Return the name of the file with the counterexample to a form of a claim."""
    return f"{id_}@{variant}.json"


def save(counterexample: Counterexample, path: Path) -> None:
    """Write a counterexample as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, {"format": FORMAT, **counterexample.as_json()})


def replay_command(path: Path, folders: Iterable[Path] = ()) -> str:
    """Return what to type to evaluate a saved counterexample again, with the folders of further claims."""
    return shlex.join(
        ["fltheory", "replay", str(path), *(part for folder in folders for part in ("--claims", str(folder)))]
    )


def load(path: Path) -> dict[str, Any]:
    """Read a counterexample, or say which field of the file is wrong; its parameters are not looked at."""
    document = read_json(path)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InvalidParameter(f"{path}: is not a counterexample; save one with: fltheory falsify ID")
    shapes.check(document, SHAPE, str(path))
    if document["seed"] < 0:
        raise InvalidParameter(f"{path}: seed must be at least 0, got {document['seed']}; it may have been edited")
    return document
