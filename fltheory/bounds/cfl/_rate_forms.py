"""Forms that the rates of the CFL paper have in common: drifts that stay, and the term of the start."""

from __future__ import annotations

from typing import Any

from sympy import Expr, Le

from fltheory.bounds._algebra import BigO
from fltheory.bounds._claim import Assumption, Form
from fltheory.bounds.cfl._rate_symbols import F, T, eps
from fltheory.bounds.cfl._rates import Setting


def drawn_forms(
    reading: str,
    setting: Setting,
    sources: tuple[str, ...],
    *,
    claimed: Expr,
    error: Expr,
    remains: Expr,
    far: tuple[Assumption, ...],
    where: tuple[Any, ...] = (),
) -> tuple[Form, Form, Form]:
    """Return the published, the corrected and the sharp form for client drifts that are drawn once and stay.

    Parameters
    ----------
    reading
        Name of the reading.
    setting, sources
        What is run, and the sources of error that the rate contains.
    claimed, error, remains
        The published number of rounds, the corrected error, and the part of it that does not fade.
    far, where
        Assumption of the lower bound; definitions.
    """
    everything = setting.check(*setting.everything(*sources))
    return (
        Form(
            variant=f"published@{reading}",
            statement=Le(T, claimed),
            where=where,
            check=everything,
            note="one draw of the drift per client, kept for ever",
        ),
        Form(
            variant=f"corrected@{reading}",
            statement=Le(eps, error),
            where=where,
            check=everything,
            note="the gap does not tend to zero",
        ),
        Form(
            variant=f"sharp@{reading}",
            statement=Le(remains, BigO(eps)),
            assumptions=far,
            check=setting.check(*setting.alone("G", attained=True)),
            note="the gap that remains",
        ),
    )


def start_form(setting: Setting) -> Form:
    """Return the form that says that a general convex rate needs the square of the distance."""
    return Form(
        variant="sharp@start",
        statement=Le(F**2 / eps, BigO(T)),
        check=setting.check(*setting.start(attained=True)),
        note="the square of F is needed",
    )
