r"""Sweeps along which the rates of the CFL paper are held.

Every source of error is swept alone, in the range where its term leads, along every parameter that a rate may contain:
:math:`T, N, K`, its own size, :math:`F`, and the curvature (:math:`\kappa` where :math:`\mu` is known; flatter and
steeper than the worst one where it is not). In the general convex case the range is :math:`F\sqrt{N/T} < D <
LF\sqrt{NT}`: below, the start leads, and above, the gap saturates at :math:`LF^2/2` because a vanishing step does no
harm. Then all sources together, also with growth :math:`B`, and none.

Client drifts that stay and sum to zero act through the two groups of :mod:`fltheory.bounds.cfl._rates`, from :math:`K =
2` on. Their term leads between :math:`\eta < \eta_{\max}` and saturation: for :math:`\mu T > L\ln(LF^2/\varepsilon)` in
the strongly convex case, for :math:`F/\sqrt{\eta_{\max}^3T} \ll BG \ll LFT` in the general one.

A soft O has one logarithm, :math:`\ln(T + LF^2 / \varepsilon)`, so where a rate is exact, measured over claimed falls
like :math:`1/\ln T`; it settles no sooner.

The number of rounds is swept with the exact engine, up to thousands of rounds; the other parameters by the closed
form, which agrees with the engine and serves for all of them in quick checks. With the mean of all rounds' objectives
as objective (``over-rounds``) the closed form is all there is, and where clients have different Hessians the engine,
which then walks round by round, is kept for one sweep: of the client drift alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from fltheory.bounds.cfl._rates import RateSetting
from fltheory.bounds.claim import Sweep
from fltheory.bounds.space import Params

BASE: Mapping[str, Any] = {
    "T": 512, "N": 2, "K": 2, "by": "formula", "D": 0.0, "G": 0.0, "sigma": 0.0, "B": 0.0, "kappa": 1.0, "steep": 1.0,
    "F": 1.0,
}  # fmt: skip
"""Base of all sweeps: no source of error."""

DISTANCE_OF_GROUPS = 0.5
"""Growth of two groups that pull apart: the steep eigenvalue of one is between a third and half of the other's."""

LONG = 16384
"""Rounds where the condition number is swept and the memory of the weights has to be short against their number."""


def sweep(name: str, low: float, high: float, base: Params, *, points: int = 6) -> Sweep:
    """Return a geometric sweep of one parameter; whole numbers stay whole."""
    values = np.geomspace(low, high, points)
    numbers = tuple(round(float(v)) if name in ("T", "N", "K") else float(v) for v in values)
    lighter = {"by": "formula"} if base.get("by") == "engine" else {}
    return Sweep(name, numbers, {**base, name: numbers[0]}, lighter)


def size(setting: RateSetting, source: str) -> float:
    r"""Return how large a source is where it leads; the noise of CFL-R does only above :math:`F\sqrt{NK}`."""
    if source == "G" and setting.balanced:
        return 16.0
    if setting.strongly:
        return 0.5 if setting.lasting and source == "G" else 1.0
    return {"D": 4.0, "G": 0.5 if setting.lasting else 4.0, "sigma": 64.0 if setting.remembers else 8.0}[source]


def base(setting: RateSetting, *sources: str) -> dict[str, Any]:
    """Return the base of sweeps with some sources of error at the sizes at which they lead."""
    made = {**BASE, "N": setting.clients or 2}
    if setting.strongly:
        made |= {"T": 1024, **({"kappa": 1.0, "F": 256.0} if setting.lasting else {"kappa": 2.0, "F": 8.0})}
    made |= {source: size(setting, source) for source in sources}
    return _in_groups(setting, made) if setting.balanced and "G" in sources else made


def alone(setting: RateSetting, source: str, *, attained: bool = False) -> tuple[Sweep, ...]:
    """Return sweeps of every parameter with one source of error only, from the range where it leads.

    Parameters
    ----------
    setting
        What is run.
    source
        ``D``, ``G`` or ``sigma``.
    attained
        Stay in the family that attains a rate: no curvature but the worst one where it is not known, and no source so
        large that the gap saturates.
    """
    loud, leads = base(setting, source), size(setting, source)
    far, apart = float(loud["F"]), loud["B"] > 0
    # What does not last is seen only after the generous exponential of these bounds has died out.
    fading = setting.lasting and setting.strongly and source != "G"
    return (
        sweep("T", 256, 8192, loud) if fading else sweep("T", 64, 2048, {**loud, "by": "engine"}),
        *(() if setting.clients else (sweep("N", 2, 64, loud),)),
        sweep("K", 2, 64, loud) if apart else sweep("K", 1, 32, loud),
        sweep(source, leads / 16, 2 * leads, loud)
        if attained
        else sweep(source, leads / 16, 1e4 * _saturation(setting, source, loud), loud, points=8),
        # Up to where the start leads; a rate that is generous to drifts is so until then.
        sweep("F", far / 2, (1e20 if apart else 1e7) * far, loud),
        # Growth has an end, so that it has no exponent; it is swept where a constant is claimed.
        *((sweep("B", 1 / 32, 1 / 2, loud),) if apart and attained else ()),
        *(() if attained and not setting.strongly else _bent(setting, loud, attained=attained)),
    )


def start(setting: RateSetting, *, attained: bool = False) -> tuple[Sweep, ...]:
    """Return sweeps without any drift and noise."""
    quiet = base(setting)
    return (
        sweep("T", 256, 8192, {**quiet, "kappa": 4.0} if setting.strongly else quiet),
        sweep("K", 1, 32, quiet),
        sweep("F", 1, 1e4, quiet),
        *(() if attained else _bent(setting, quiet)),
    )


def everything(setting: RateSetting, *sources: str) -> tuple[Sweep, ...]:
    """Return the sweeps of a rate that contains these sources: each alone, all together, and none."""
    loud = base(setting, *sources)
    apart = loud["B"] > 0
    if apart or (setting.lasting and not setting.strongly):
        # A client drift that stays has another power than what fades, and the curvature is the worst one for whichever
        # leads: at a crossing there is no exponent, so it leads throughout.
        loud |= {source: loud[source] * ((8.0 if apart else 1.0) if source == "G" else 1 / 8) for source in sources}
    together = (
        *(() if apart else (sweep("T", 64, 2048, {**loud, "by": "engine"}),)),
        *(() if setting.clients else (sweep("T", 256, 8192, _in_groups(setting, loud)),)),
        *_bent(setting, loud),
    )
    each = [s for source in sources for s in alone(setting, source)]
    if apart:
        # Quick checks take the first sweep of every parameter: along these two the client drift leads at all points.
        each.sort(key=lambda s: not (s.base["B"] > 0 and s.name in ("N", "K")))
    return (*each, *together, *start(setting))


def attained_over_rounds(setting: RateSetting, source: str) -> tuple[Sweep, ...]:
    r"""Return sweeps of one drift for the mean over rounds as objective.

    The condition number is swept with many rounds: the memory of the weights, :math:`\kappa/\eta` rounds, has to be
    short against their number.
    """
    return _longer(setting, alone(setting, source, attained=True))


def over_all_rounds(setting: RateSetting, *sources: str) -> tuple[Sweep, ...]:
    """Return all sweeps for the mean over rounds as objective; of the condition number with one source at a time.

    Noise and drifts cost the same power of the number of rounds there, so that together neither leads.
    """
    kept = (s for s in everything(setting, *sources) if s.name != "kappa" or _single(s.base))
    return _longer(setting, tuple(kept))


def _in_groups(setting: RateSetting, loud: Mapping[str, Any]) -> dict[str, Any]:
    """Return a base with two groups: a condition number with room for them, or rounds for steps in between."""
    return {**loud, "B": DISTANCE_OF_GROUPS, **({"kappa": 4.0} if setting.strongly else {"T": 8192})}


def _longer(setting: RateSetting, sweeps: tuple[Sweep, ...]) -> tuple[Sweep, ...]:
    """Return sweeps in which the condition number, where drifts lead, is swept with many rounds."""
    return tuple(
        replace(s, base={**s.base, "T": LONG}) if s.name == "kappa" and setting.strongly and _drifts(s.base) else s
        for s in sweeps
    )


def _saturation(setting: RateSetting, source: str, loud: Params) -> float:
    """Return about how large a source is when no step does better than a vanishing one."""
    far, clients, rounds = float(loud["F"]), int(loud["N"]), int(loud["T"])
    if source == "G" and setting.balanced:
        return far * rounds
    if source != "sigma":
        return far * float(np.sqrt(clients * rounds))
    return far * float(np.sqrt(clients * int(loud["K"]) * rounds * (rounds if setting.remembers else 1)))


def _drifts(loud: Params) -> bool:
    return float(loud["D"]) > 0 or float(loud["G"]) > 0


def _single(loud: Params) -> bool:
    return sum(float(loud[source]) > 0 for source in ("D", "G", "sigma")) <= 1


def _bent(setting: RateSetting, loud: Mapping[str, Any], *, attained: bool = False) -> tuple[Sweep, ...]:
    r"""Return sweeps of the curvature: of the known one, or away from the worst one in both directions.

    The condition number stays well below :math:`\eta T`, from where on the start leads; noise fades faster than drifts,
    so the start leads earlier, and drifts in groups lead only below :math:`\eta T/\ln(LF^2/\varepsilon)`. The generous
    exponential in the bounds for drifts that stay is seen only above, and so is that :math:`G^2/(\mu\varepsilon)`, too
    large for drifts in groups by :math:`\mu T/L`, is bounded. A rate that is attained needs a larger one, since both
    eigenvalues contribute, like :math:`1 + 1/\kappa`.
    """
    if not setting.strongly:
        steepest = min(32.0, 1.0 / setting.curvature(loud))
        return (sweep("kappa", 1, 1024, loud), sweep("steep", 1, steepest, loud))
    if loud["B"] > 0:
        # The groups need room between mu and L.
        return (sweep("kappa", 4, 64, {**loud, "T": LONG}) if attained else sweep("kappa", 4, 2**18, loud, points=8),)
    ends = ((2, 64) if attained else (1, 16)) if _drifts(loud) else (512, 16384) if setting.lasting else (1, 8)
    return (sweep("kappa", *ends, {**loud, "T": 4096}),)
