"""Saved counterexamples evaluated again, from the file alone; :mod:`fltheory.validation.counterexamples` reads them.

A file may have been edited, so its parameters are read against the space of the claim, or against its sweeps, before
anything is evaluated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fltheory.bounds.catalogue import Entry
from fltheory.bounds.claim import Claim, Form, Sweep, Sweeps
from fltheory.bounds.space import read as read_point
from fltheory.errors import FltheoryError, InvalidParameter, NotApplicable
from fltheory.validation.decide import outcome_at
from fltheory.validation.rates import check_rate
from fltheory.validation.stored_sweeps import read_sweep
from fltheory.validation.verdict import Decision


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


def replay(stored: Mapping[str, Any], known: Mapping[str, Entry], *, where: str = "the counterexample") -> Replayed:
    """Evaluate a stored counterexample again; nothing is searched.

    Parameters
    ----------
    stored
        What :func:`fltheory.validation.counterexamples.load` returns.
    known
        The claims, see :func:`fltheory.bounds.catalogue.index`.
    where
        Name of the file, for messages.
    """
    if stored["id"] not in known:
        raise InvalidParameter(
            f"{where}: claim {stored['id']!r} is not known; name the folder it is stated in with --claims"
        )
    claim = known[stored["id"]].load()
    try:
        form = claim.form(stored["variant"])
        source = claim.check_of(form)
        sweep = read_sweep(source, stored["parameters"]) if isinstance(source, Sweeps) else None
        point = {} if isinstance(source, Sweeps) else read_point(source.space, stored["parameters"])
    except InvalidParameter as error:
        raise InvalidParameter(f"{where}: {error}") from None
    try:
        if isinstance(source, Sweeps) and sweep is not None:
            return _replay_sweep(claim, form, source, sweep, stored["seed"])
        evaluation = outcome_at(claim, form, point, seed=stored["seed"])
    except FltheoryError:
        raise
    except (Exception, SystemExit) as error:  # the code of a claim may be a user's, and the instance anybody's
        raise NotApplicable(
            f"{where}: {claim.id} cannot be evaluated on this instance: {type(error).__name__}: {error}"
        ) from error
    return Replayed(
        id=claim.id,
        variant=form.variant,
        violated=evaluation is not None and evaluation.violated,
        lhs="an assumption fails" if evaluation is None else str(evaluation.lhs),
        rhs="" if evaluation is None else str(evaluation.rhs),
        arithmetic="float64" if isinstance(source, Sweeps) or not source.rational else "rational",
    )


def _replay_sweep(claim: Claim, form: Form, source: Sweeps, sweep: Sweep, seed: int) -> Replayed:
    verdict = check_rate(claim, form, Sweeps(instances=source.instances, sweeps=(sweep,)), seed=seed)
    measured = verdict.evidence["sweeps"]
    lhs, rhs = measured[0]["sides"] if measured else (verdict.reason, "")
    return Replayed(
        id=claim.id,
        variant=form.variant,
        violated=verdict.decision is Decision.VIOLATED,
        lhs=lhs,
        rhs=rhs,
        arithmetic="float64",
    )
