"""Saved counterexamples: written once, evaluated again from the file alone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fltheory.bounds._claim import Claim, Sweep, Sweeps
from fltheory.bounds._space import read as read_point
from fltheory.claims import Entry
from fltheory.errors import InvalidParameter
from fltheory.validation.decide import outcome_at
from fltheory.validation.rates import check_rate
from fltheory.validation.verdict import Checked, Counterexample, Outcome

FORMAT = "fltheory-counterexample-1"


@dataclass(frozen=True, kw_only=True, slots=True)
class Replayed:
    """What a stored counterexample evaluates to now."""

    id: str
    variant: str
    violated: bool
    lhs: str
    rhs: str
    arithmetic: str

    def as_json(self) -> dict[str, Any]:
        """Return the object that `replay --json` prints."""
        return {name: getattr(self, name) for name in self.__slots__}


def save(counterexample: Counterexample, path: Path) -> None:
    """Write a counterexample as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    document = {"format": FORMAT, **counterexample.as_json()}
    path.write_text(json.dumps(document, indent=2, allow_nan=False) + "\n", encoding="utf-8")


def save_all(checked: Iterable[Checked], directory: Path) -> None:
    """Write every counterexample that was found, one file each, and remove those of an earlier run."""
    for old in directory.glob("*.json"):
        old.unlink()
    for verdict in (v for c in checked for v in c.verdicts):
        if verdict.counterexample is not None:
            save(verdict.counterexample, directory / f"{verdict.id}@{verdict.variant}.json")


def load(path: Path) -> dict[str, Any]:
    """Read a counterexample, or say what is wrong with it."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidParameter(f"{path}: cannot be read: {(error.strerror or str(error)).lower()}") from None
    except ValueError as error:
        raise InvalidParameter(f"{path}: is not valid JSON: {error}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InvalidParameter(f"{path}: is no counterexample; save one with: fltheory falsify ID")
    missing = {"id", "variant", "parameters", "arithmetic", "seed"} - document.keys()
    if missing:
        raise InvalidParameter(f"{path}: lacks {', '.join(sorted(missing))}; it may have been edited")
    return document


def replay(stored: Mapping[str, Any], known: Mapping[str, Entry]) -> Replayed:
    """Evaluate a stored counterexample again; nothing is searched."""
    if stored["id"] not in known:
        raise InvalidParameter(f"claim {stored['id']!r} is not known; name the folder it is stated in with --claims")
    claim = known[stored["id"]].load()
    form = claim.form(stored["variant"])
    source = claim.check_of(form)
    if isinstance(source, Sweeps):
        return _replay_sweep(stored, claim, source)
    point = read_point(source.space, stored["parameters"])
    reading = outcome_at(claim, form, point, seed=stored["seed"])
    return Replayed(
        id=claim.id,
        variant=form.variant,
        violated=reading is not None and reading.violated,
        lhs="an assumption fails" if reading is None else str(reading.lhs),
        rhs="" if reading is None else str(reading.rhs),
        arithmetic="rational" if source.rational else "float64",
    )


def _replay_sweep(stored: Mapping[str, Any], claim: Claim, source: Sweeps) -> Replayed:
    parameters = dict(stored["parameters"])
    swept = {sweep.name for sweep in source.sweeps}
    names = [name for name in swept if isinstance(parameters.get(name), list)]
    if len(names) != 1:
        raise InvalidParameter(
            "the counterexample of a rate must list the values of one parameter; it may have been edited"
        )
    values = tuple(parameters.pop(names[0]))
    sweep = Sweep(names[0], values, {**parameters})
    form = claim.form(stored["variant"])
    verdict = check_rate(claim, form, Sweeps(source=source.source, sweeps=(sweep,)), seed=stored["seed"])
    lhs, rhs = verdict.evidence["sweeps"][0]["sides"]
    return Replayed(
        id=claim.id,
        variant=form.variant,
        violated=verdict.outcome is Outcome.VIOLATED,
        lhs=lhs,
        rhs=rhs,
        arithmetic="float64",
    )
