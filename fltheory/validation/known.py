"""Counterexamples that come with the package: the first points of every search.

A shorter search then never lets pass what a longer one has refuted, and the other forms of a claim begin with the
instances on which one of them is known to fail. Nothing is taken on trust: a stored point is read against the space of
the claim and evaluated like any other, and one that does not fail any more is only a point that was tried.

Files are renewed from the ledger of a search that did not use them::

    fltheory check --all --unaided --fresh --output unaided
    python -m fltheory.validation.known unaided/ledger.json
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from fltheory._internal import shapes
from fltheory._internal.files import read_json, remove, write_json
from fltheory.bounds.claim import Claim, Form, Sweep, Sweeps
from fltheory.bounds.space import Params, plain, read
from fltheory.errors import FltheoryError, InvalidParameter
from fltheory.validation.stored_sweeps import read_sweep

SHIPPED = Path(__file__).parent / "known_counterexamples"
"""One file per claim that has a form with a known counterexample."""

FORMAT = "fltheory-known-1"

SHAPE = {"format": str, "id": str, "counterexamples": [{"variant": str, "parameters": dict}]}

EXPONENT = 4
"""Points from which the exponent of a rate is read, the last ones of a sweep."""


def stored(id_: str, folder: Path = SHIPPED) -> list[dict[str, Any]]:
    """Return what is stored about a claim, or say which field of its file is wrong; empty if there is no file."""
    path = folder / f"{id_}.json"
    if not path.is_file():
        return []
    document = read_json(path)
    shapes.check(document, SHAPE, str(path))
    if document["format"] != FORMAT or document["id"] != id_:
        raise InvalidParameter(f"{path}: must be of the format {FORMAT} and about {id_}; renew it from a ledger")
    return list(document["counterexamples"])


@functools.cache
def shipped(id_: str) -> tuple[dict[str, Any], ...]:
    """Return the counterexamples to a claim that come with the package, each with ``variant`` and ``parameters``."""
    try:
        return tuple(stored(id_))
    except FltheoryError:  # a damaged file costs time, not truth: the search finds what it finds
        return ()


def points(claim: Claim, form: Form) -> Iterator[tuple[str, Params]]:
    """Yield known points that are of the space of a form, with the form that fails there: its own first."""
    source = claim.check_of(form)
    if isinstance(source, Sweeps):
        return
    for one in sorted(shipped(claim.id), key=lambda one: one["variant"] != form.variant):
        try:
            yield one["variant"], read(source.space, one["parameters"])
        except InvalidParameter:
            continue  # of another form with a space of its own, or of an earlier space


def sweeps(claim: Claim, form: Form, *, firm: bool) -> Iterator[Sweep]:
    """Yield the sweeps along which a form is known to fail; of a law up to constants, the points that tell."""
    source = claim.check_of(form)
    if not isinstance(source, Sweeps):
        return
    for one in shipped(claim.id):
        if one["variant"] != form.variant:
            continue
        try:
            found = read_sweep(source, one["parameters"])
        except InvalidParameter:
            continue
        same = (own for own in source.sweeps if own.name == found.name and plain(own.base) == plain(found.base))
        lighter = next((own.lighter for own in same), {})
        yield Sweep(found.name, found.values if firm else found.values[-EXPONENT:], {**found.base, **lighter})


def renew(ledger: Mapping[str, Any], still: Iterable[tuple[str, str]] = (), folder: Path = SHIPPED) -> list[str]:
    """Write the counterexamples of a ledger into the files, and return what has changed, one line per form.

    A form that the ledger does not have as violated keeps its point if it is among ``still``, the forms whose stored
    points fail today.
    """
    kept, lines = set(still), []
    folder.mkdir(parents=True, exist_ok=True)
    for entry in ledger["claims"]:
        before = {one["variant"]: one for one in stored(entry["id"], folder)}
        after = {variant: one for variant, one in before.items() if (entry["id"], variant) in kept}
        for form in entry["forms"]:
            found = form["counterexample"]
            if found is not None and form["variant"].startswith("published"):
                after[form["variant"]] = {"variant": form["variant"], "parameters": found["parameters"]}
        if after == before:
            continue
        lines += [f"+ {entry['id']} {variant}" for variant in after if after[variant] != before.get(variant)]
        lines += [f"- {entry['id']} {variant}" for variant in before if variant not in after]
        path = folder / f"{entry['id']}.json"
        if after:
            ordered = [after[variant] for variant in sorted(after)]
            write_json(path, {"format": FORMAT, "id": entry["id"], "counterexamples": ordered}, indent=1)
        else:
            remove([path])
    return lines


def failing() -> Iterator[tuple[str, str]]:
    """Yield claim and form of every shipped counterexample that fails today."""
    from fltheory.bounds import catalogue
    from fltheory.validation.replay import replay

    known = catalogue.index()
    for id_ in sorted(path.stem for path in SHIPPED.glob("*.json")):
        for one in stored(id_) if id_ in known else ():
            try:
                if replay({"id": id_, "seed": 0, **one}, known, where=f"{id_}.json").violated:
                    yield id_, one["variant"]
            except FltheoryError:
                continue


def main(arguments: list[str]) -> int:
    """Renew the files from a ledger."""
    from fltheory.validation.ledger import load

    if len(arguments) != 1:
        sys.stderr.write("usage: python -m fltheory.validation.known LEDGER.json\n")
        return 2
    lines = renew(load(Path(arguments[0])), failing())
    sys.stdout.write("\n".join(lines or ["no difference"]) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
