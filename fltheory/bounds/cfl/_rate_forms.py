"""Forms that the rates of the CFL paper have in common: of CFL-R, of drifts that stay or cancel, and of the start."""

from __future__ import annotations

from typing import Any

from sympy import Expr, Le, Rational, log, sqrt

from fltheory.bounds.algebra import BigO
from fltheory.bounds.cfl._rate_sweeps import alone, attained_over_rounds, everything, over_all_rounds, start
from fltheory.bounds.cfl._rate_symbols import B, F, G, T, eps
from fltheory.bounds.cfl._rates import RateSetting
from fltheory.bounds.claim import Assumption, Form
from fltheory.bounds.symbols import L, mu


def remembered_forms(
    setting: RateSetting,
    sources: tuple[str, ...],
    *,
    claimed: Expr,
    repaired: Expr,
    over: Expr,
    needed: Expr,
    far: tuple[Assumption, ...],
    drifts: tuple[str, ...] = ("D",),
    needed_over: Expr | None = None,
    where: tuple[Any, ...] = (),
    note: str,
) -> tuple[Form, ...]:
    """Return the published, corrected and sharp forms of CFL-R with either objective, the expectation first.

    Parameters
    ----------
    setting, sources
        What is run, and the sources of error that the rate contains.
    claimed, repaired, over
        The published number of rounds, the corrected one, and that with the mean of all rounds as objective.
    needed, far, drifts
        Rounds that no algorithm can spare, the assumption of that bound, and the drifts that it contains.
    needed_over
        Rounds that CFL-R needs with the mean of all rounds as objective, if that is known.
    where, note
        Definitions; what was corrected.
    """
    swept = over_all_rounds(setting, *sources) if setting.strongly else everything(setting, *sources)
    all_rounds = setting.check(*swept, kind="over-rounds")
    attained = tuple(s for drift in drifts for s in alone(setting, drift, attained=True))
    forms = [
        Form(variant="published@expectation", statement=Le(T, claimed), where=where),
        Form(
            variant="published@over-rounds",
            statement=Le(T, claimed),
            where=where,
            check=all_rounds,
            note="the objective is the mean of those of all rounds",
        ),
        Form(variant="corrected", statement=Le(T, repaired), where=where, note=note),
        Form(
            variant="corrected@over-rounds",
            statement=Le(T, over),
            where=where,
            check=all_rounds,
            note="what the mean of all drifts costs if the objective is the mean of those of all rounds",
        ),
        Form(
            variant="sharp",
            statement=Le(needed, BigO(T)),
            assumptions=far,
            check=setting.check(*attained),
            note="no algorithm needs fewer rounds than the new term says",
        ),
    ]
    if needed_over is not None:
        also = tuple(s for drift in drifts for s in attained_over_rounds(setting, drift))
        forms.append(
            Form(
                variant="sharp@over-rounds",
                statement=Le(needed_over, BigO(T)),
                check=setting.check(*also, kind="over-rounds"),
                note="CFL-R needs as many, with these weights and any step",
            )
        )
    return tuple(forms) if setting.strongly else (*forms, start_form(setting))


def cancelling_forms(
    setting: RateSetting, sources: tuple[str, ...], needed: Expr, where: tuple[Any, ...] = ()
) -> tuple[Form, Form]:
    """Return the corrected and the sharp form for client drifts that stay and sum to zero.

    Parameters
    ----------
    setting, sources
        What is run, and the sources of error that the rate contains.
    needed
        Number of rounds, without the square of the client drift.
    where
        Definitions.
    """
    if setting.strongly:
        statement = Le(sqrt(L) * B * G * log(1 + mu * F**2 / (2 * eps)) / (mu * sqrt(eps)), 82 * T)
        far = Le(sqrt(L) * B * G, mu ** Rational(3, 2) * F * T)
    else:
        statement = Le(sqrt(L) * B * G * F**2 / eps ** Rational(3, 2), 810 * T)
        far = Le(3 * B * G, L * F * T)
    return (
        Form(
            variant="corrected@cancelling",
            statement=Le(T, needed),
            where=where,
            check=setting.check(*everything(setting, *sources)),
            note="client drifts that sum to zero cancel to first order: no square of G",
        ),
        Form(
            variant="sharp@client-drift",
            statement=statement,
            assumptions=(Assumption("the start is far away", far),),
            check=setting.check(*alone(setting, "G", attained=True)),
            note="what remains of G is needed if clients have different Hessians, with this constant",
        ),
    )


def drawn_forms(
    reading: str,
    setting: RateSetting,
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
    checked = setting.check(*everything(setting, *sources))
    return (
        Form(
            variant=f"published@{reading}",
            statement=Le(T, claimed),
            where=where,
            check=checked,
            note="one draw of the drift per client, kept for ever",
        ),
        Form(
            variant=f"corrected@{reading}",
            statement=Le(eps, error),
            where=where,
            check=checked,
            note="the gap does not tend to zero",
        ),
        Form(
            variant=f"sharp@{reading}",
            statement=Le(remains, BigO(eps)),
            assumptions=far,
            check=setting.check(*alone(setting, "G", attained=True)),
            note="the gap that remains",
        ),
    )


def start_form(setting: RateSetting) -> Form:
    """Return the form that says that a general convex rate needs the square of the distance."""
    return Form(
        variant="sharp@start",
        statement=Le(F**2 / eps, BigO(T)),
        check=setting.check(*start(setting, attained=True)),
        note="the square of F is needed",
    )
