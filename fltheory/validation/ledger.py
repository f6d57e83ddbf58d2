"""The ledger: what was checked, with which answer, when, by which code; later checks are merged into it.

Every claim and every form carries the time, commit, seed and effort of the check that its verdict comes from, since a
later check may have been about a few claims, or about one form of them. What a check is not about stays as it was, with
its counterexamples. :mod:`fltheory.validation.ledger_text` shows and compares ledgers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import Any, NamedTuple

from fltheory._internal import shapes
from fltheory._internal.files import read_json, remove, sole_writer, write_json, write_text
from fltheory._internal.provenance import commit, now, versions
from fltheory.bounds.catalogue import rank
from fltheory.errors import InvalidParameter
from fltheory.validation.composition import composed
from fltheory.validation.counterexamples import SHAPE as COUNTEREXAMPLE
from fltheory.validation.counterexamples import file_of, save
from fltheory.validation.known_terms import TERM
from fltheory.validation.severity import ORDER as SEVERITIES
from fltheory.validation.severity import graded
from fltheory.validation.summary import KINDS
from fltheory.validation.verdict import Checked, Decision, Strength

ORIGIN = ("time", "commit", "seed", "effort")
"""What every claim and every form says about the check that its verdict comes from."""

COUNTEREXAMPLES = "counterexamples"
"""Folder beside the ledger with one file per counterexample."""

_NAMES = ("ledger.json", "ledger.md")
_ORIGIN: dict[str, Any] = {"time": str, "commit": str, "seed": int, "effort": str}
_LATER = {name: shapes.Optional(shape) for name, shape in _ORIGIN.items()}
_CONDITION = {
    **dict.fromkeys(("name", "statement", "origin", "example", "measured"), str),
    **dict.fromkeys(("met", "failed"), int),
}
VERDICT = {
    **dict.fromkeys(("id", "variant", "method", "reason"), str),
    **dict.fromkeys(("instances", "budget", "seed"), int),
    "worst": {"parameters": shapes.Optional(dict)},
    "verdict": shapes.OneOf(tuple(decision.value for decision in Decision)),
    "strength": shapes.OneOf(tuple(strength.value for strength in Strength)),
    "severity": shapes.OneOf(("", *SEVERITIES)),
    "meant": [str],
    "margin": (float, None),
    "seconds": float,
    "assumptions": [_CONDITION],
    "counterexample": (COUNTEREXAMPLE, None),
    "evidence": {"searches": shapes.Optional(shapes.Values(str)), "terms": shapes.Optional([TERM])},
}
"""What a verdict looks like."""

_FORM = {
    **VERDICT,
    **{name: shapes.Optional(VERDICT[name]) for name in ("strength", "severity", "meant")},
    "latex": str,
    "note": str,
    "rests": shapes.Optional(str),
    "modulo": shapes.Optional([str]),
    **_LATER,
}
_CLAIM = {
    **dict.fromkeys(("id", "paper", "reference", "title", "error"), str),
    "kind": shapes.OneOf(KINDS),
    "uses": [str],
    "forms": [_FORM],
    **_LATER,
}
SHAPE = {"fltheory": shapes.Values(str), **_ORIGIN, "claims": [_CLAIM]}
"""What a ledger looks like; those of earlier versions lack the origin of claims and forms, strength, severity, and what
results rest on."""


def ledger(checked: Sequence[Checked], *, seed: int, effort: str) -> dict[str, Any]:
    """Return the ledger of one check as a JSON document."""
    origin = {"time": now(), "commit": commit(), "seed": seed, "effort": effort}
    claims = []
    for one in checked:
        # What was taken over was found earlier, by the same code.
        own = origin | ({"time": one.time} if one.time else {})
        forms = [
            {**verdict.as_json(), "latex": latex, "note": note, **own, "seed": verdict.seed}
            for verdict, latex, note in zip(one.verdicts, one.latex, one.notes, strict=True)
        ]
        claims.append({**one.entry.as_json(), "uses": list(one.uses), "error": one.error, "forms": forms, **own})
    return composed(graded({"fltheory": dict(versions()), **origin, "claims": claims}))


def merged(old: Mapping[str, Any] | None, new: Mapping[str, Any], *, variant: str | None = None) -> dict[str, Any]:
    """Return an earlier ledger with what a later check has found put in its place.

    Claims that the later one has not checked stay as they were. If it was about one ``variant``, so do all other forms.
    A claim that could not be evaluated keeps the forms that it had, besides the error.
    """
    if old is None:
        return dict(new)
    claims = {entry["id"]: entry for entry in old["claims"]}
    for entry in new["claims"]:
        before = claims.get(entry["id"])
        if before is None or (variant is None and not entry["error"]):
            claims[entry["id"]] = entry
        elif entry["error"]:
            claims[entry["id"]] = {**entry, "forms": before["forms"], "uses": before["uses"]}
        else:
            forms = {form["variant"]: form for form in (*before["forms"], *entry["forms"])}
            claims[entry["id"]] = {**entry, "forms": list(forms.values())}
    ordered = sorted(claims.values(), key=lambda entry: rank(entry["paper"], entry["id"]))
    return composed(graded({**new, "claims": ordered}))


def restricted(document: Mapping[str, Any], ids: Set[str]) -> dict[str, Any]:
    """Return a ledger without the claims that are not among ``ids``."""
    return {**document, "claims": [entry for entry in document["claims"] if entry["id"] in ids]}


class Kept(NamedTuple):
    """What was checked now, and the whole ledger with it."""

    checked: dict[str, Any]
    ledger: dict[str, Any]


class LedgerFolder:
    """The ledger in a folder, with its counterexamples; of use inside a ``with`` statement, by one process at a time.

    Parameters
    ----------
    directory
        The folder; it is made if there is none.
    also
        Further folders that nobody else may write into meanwhile.
    """

    def __init__(self, directory: Path, *also: Path) -> None:
        self.directory = directory
        self.json, self.text = (directory / name for name in _NAMES)
        self._lock = sole_writer(*also, directory, directory / COUNTEREXAMPLES)
        self._before: dict[str, Any] | None = None

    def __enter__(self) -> LedgerFolder:
        self._lock.__enter__()
        try:
            if self.json.exists():
                self._before = load(self.json)
        except BaseException as error:
            self._lock.__exit__(type(error), error, error.__traceback__)
            raise
        return self

    def __exit__(self, *error: Any) -> None:
        self._lock.__exit__(*error)

    def counterexample(self, id_: str, variant: str) -> Path:
        """Return where the counterexample to a form is kept."""
        return self.directory / COUNTEREXAMPLES / file_of(id_, variant)

    def keep(self, checked: Sequence[Checked], *, seed: int, effort: str, variant: str | None = None) -> Kept:
        """Merge what was found into the ledger.

        Counterexamples are written first, and those of forms that hold now are removed last: whatever happens in
        between, every counterexample that the ledger in the folder tells of is there.
        """
        found = [one for one in checked if one.verdicts or one.error]
        new = ledger(found, seed=seed, effort=effort)
        if not found and self._before is not None:
            return Kept(new, self._before)
        document = merged(self._before, new, variant=variant)
        for verdict in (verdict for one in found for verdict in one.verdicts):
            if verdict.counterexample is not None:
                save(verdict.counterexample, self.counterexample(verdict.id, verdict.variant))
        write(document, self.directory)
        remove(self.directory / COUNTEREXAMPLES / name for name in _files(self._before) - _files(document))
        self._before = document
        return Kept(new, document)


def write(document: Mapping[str, Any], directory: Path) -> tuple[Path, Path]:
    """Write ``ledger.json`` and ``ledger.md`` in place of earlier ones, and return their paths."""
    from fltheory.validation.ledger_text import table

    directory.mkdir(parents=True, exist_ok=True)
    document_path, table_path = (directory / name for name in _NAMES)
    write_json(document_path, document, indent=1)
    write_text(table_path, table(document))
    return document_path, table_path


def load(path: Path) -> dict[str, Any]:
    """Read a ledger, or say which field of the file is wrong."""
    document = read_json(path)
    if not isinstance(document, dict) or "claims" not in document:
        raise InvalidParameter(f"{path}: is not a ledger; write one with: fltheory check --all")
    shapes.check(document, SHAPE, str(path))
    for entry in document["claims"]:
        for name in ORIGIN:
            entry.setdefault(name, document[name])
        for form in entry["forms"]:
            if form["id"] != entry["id"]:
                raise InvalidParameter(
                    f"{path}: forms of {entry['id']!r} must have its id, got {form['id']!r}; it may have been edited"
                )
            for name in ORIGIN:
                form.setdefault(name, entry[name])
    return document


def origins(document: Mapping[str, Any]) -> Counter[tuple[str, str]]:
    """Return how many forms come from which commit and effort, the most frequent first."""
    found = Counter((form["commit"], form["effort"]) for entry in document["claims"] for form in entry["forms"])
    return Counter(dict(found.most_common()))


def origins_in_words(document: Mapping[str, Any]) -> str:
    """Return one sentence if the verdicts of a ledger come from different code or effort; empty if they do not."""
    found = origins(document)
    if len(found) < 2:
        return ""
    parts = [f"{count} of commit {named(where)}, {effort} effort" for (where, effort), count in found.items()]
    return f"Verdicts come from different checks: {'; '.join(parts)}."


def named(where: str) -> str:
    """Return a commit as it stands in texts."""
    return where[:12] or "unknown"


def _files(document: Mapping[str, Any] | None) -> set[str]:
    """Return the names of the counterexamples that a ledger tells of."""
    claims = [] if document is None else document["claims"]
    return {
        file_of(form["id"], form["variant"])
        for entry in claims
        for form in entry["forms"]
        if form["counterexample"] is not None
    }
