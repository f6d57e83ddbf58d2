"""Terms that matter, as they come with the package: instances that need them, and terms that none is known to need.

Searches begin with these instances, so that a form that lacks one of its terms, or has too small a one, is noticed by
every check. Nothing is taken on trust: an instance is read against the space of its claim and evaluated like any other.

Files are renewed from the ledger of a check that asked for them::

    fltheory check --all --sensitivity --fresh --output terms
    python -m fltheory.validation.known_terms terms/ledger.json
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fltheory._internal import shapes
from fltheory._internal.files import read_json, remove, write_json
from fltheory.bounds.claim import Claim, Form, Sweeps
from fltheory.bounds.space import Params, read
from fltheory.errors import FltheoryError, InvalidParameter
from fltheory.validation.sensitivity import STATUSES, summarised

SHIPPED = Path(__file__).parent / "known_terms_of"
"""One file per claim that has a form that holds."""

FORMAT = "fltheory-terms-1"

_TERM = {
    **dict.fromkeys(("place", "term", "change", "words"), str),
    "status": shapes.OneOf(STATUSES),
    "half": bool,
    "ratio": (float, None),
}
TERM = {**_TERM, "parameters": (dict, None)}
"""What is said of a term in a ledger."""

SHAPE = {
    "format": str,
    "id": str,
    "forms": [{"variant": str, "points": [dict], "terms": [{**_TERM, "at": (int, None)}]}],
}
"""What a file looks like: terms refer to points, since one point often serves for several of them."""


def stored(id_: str, folder: Path = SHIPPED) -> dict[str, list[dict[str, Any]]]:
    """Return what is known about the terms of a claim, by form; say which field of its file is wrong."""
    path = folder / f"{id_}.json"
    if not path.is_file():
        return {}
    document = read_json(path)
    shapes.check(document, SHAPE, str(path))
    if document["format"] != FORMAT or document["id"] != id_:
        raise InvalidParameter(f"{path}: must be of the format {FORMAT} and about {id_}; renew it from a ledger")
    found = {}
    for form in document["forms"]:
        points = form["points"]
        if any(one["at"] is not None and not 0 <= one["at"] < len(points) for one in form["terms"]):
            raise InvalidParameter(f"{path}: forms.terms.at must be the place of a point; renew it from a ledger")
        found[form["variant"]] = [
            {**{name: one[name] for name in _TERM}, "parameters": None if one["at"] is None else points[one["at"]]}
            for one in form["terms"]
        ]
    return found


@functools.cache
def _shipped(id_: str) -> Mapping[str, list[dict[str, Any]]]:
    try:
        return stored(id_)
    except FltheoryError:  # a damaged file costs evidence, not truth
        return {}


def of(id_: str, variant: str) -> list[dict[str, Any]]:
    """Return what comes with the package about the terms of a form; empty if nothing does."""
    return _shipped(id_).get(variant, [])


def points(claim: Claim, form: Form) -> list[Params]:
    """Return the instances that need a term of a form, as far as they are of the space of its check."""
    source = claim.check_of(form)
    if isinstance(source, Sweeps):
        return []
    found: list[Params] = []
    for place, one in enumerate(known := of(claim.id, form.variant)):
        at = one["parameters"]
        if at is None or any(at is other["parameters"] for other in known[:place]):
            continue
        try:
            found.append(read(source.space, at))
        except InvalidParameter:
            continue  # of an earlier space
    return found


def renew(ledger: Mapping[str, Any], folder: Path = SHIPPED) -> list[str]:
    """Write the terms of a ledger into the files, and return what has changed, one line per form.

    Forms that the ledger has without terms keep what is stored if they hold; nothing is kept of others.
    """
    lines = []
    folder.mkdir(parents=True, exist_ok=True)
    for entry in ledger["claims"]:
        before = stored(entry["id"], folder)
        after = {}
        for form in entry["forms"]:
            terms = form["evidence"].get("terms", before.get(form["variant"]))
            if form["verdict"] == "HOLDS" and terms is not None:
                after[form["variant"]] = terms
        changed = [v for v in {**before, **after} if before.get(v) != after.get(v)]
        if not changed:
            continue
        lines += [f"{entry['id']} {variant}: {summarised(after.get(variant, []))}" for variant in changed]
        path = folder / f"{entry['id']}.json"
        if after:
            forms = [_compact(variant, terms) for variant, terms in after.items()]
            write_json(path, {"format": FORMAT, "id": entry["id"], "forms": forms}, indent=1)
        else:
            remove([path])
    return lines


def _compact(variant: str, terms: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    found: list[Any] = []
    rows = []
    for one in terms:
        at = one["parameters"]
        if at is not None and at not in found:
            found.append(at)
        rows.append({**{name: one[name] for name in _TERM}, "at": None if at is None else found.index(at)})
    return {"variant": variant, "points": found, "terms": rows}


def main(arguments: list[str]) -> int:
    """Renew the files from a ledger."""
    from fltheory.validation.ledger import load

    if len(arguments) != 1:
        sys.stderr.write("usage: python -m fltheory.validation.known_terms LEDGER.json\n")
        return 2
    lines = renew(load(Path(arguments[0])))
    sys.stdout.write("\n".join(lines or ["no difference"]) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
