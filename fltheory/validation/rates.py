r"""Rates: along every sweep, what is measured over what is claimed must stay bounded.

A rate :math:`X = O(r)` says nothing about constants, so what counts is whether :math:`X / r` goes on growing along a
sweep of one parameter. Its exponent is read off between neighbouring points; the last three exponents are
extrapolated (Aitken's :math:`\Delta^2`, exact if they approach their limit geometrically, as lower-order terms on a
geometric grid do), and what they still move is taken for the uncertainty. A rate that misses a factor (of the number
of clients, say) shows as an exponent that does not die out; a saturating one extrapolates to zero; sampling noise
makes exponents scatter and the answer open.

A statement without :math:`O` along sweeps has its constant in it and is refuted only by a point that exceeds it.
Where no point does, but measured over claimed still grows along a sweep, the answer is open: the trend says that it
will be exceeded, no instance does. For either kind the margin is the smallest claimed over measured of all points of
all sweeps: its inverse is the constant that the rate would need there.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fltheory.bounds.algebra import BigO
from fltheory.bounds.claim import Claim, Experiments, Form, Rejected, Sweep, Sweeps
from fltheory.bounds.space import plain
from fltheory.errors import Diverged, NotApplicable
from fltheory.validation.evaluate import read
from fltheory.validation.swept import named
from fltheory.validation.trials import LOOSE, Memory, Runs, Trials, run_at
from fltheory.validation.verdict import Counterexample, Decision, Strength, Verdict

TOLERANCE = 0.005
"""Slope of the logarithm of measured over claimed that is still taken for flat."""

FURTHEST = 3.0
"""Most that exponents are extrapolated, in units of their last change."""

REACH = 1e9
"""How many times further a parameter would have to go before growth towards a bound is no concern any more."""

CLEAR = 0.05
"""Uncertainty of that slope above which a sweep tells nothing."""


@dataclass(frozen=True, slots=True)
class Trend:
    """How measured over claimed behaves along one sweep.

    Parameters
    ----------
    parameter, values, measured, claimed
        The points of the sweep.
    measured_slope, claimed_slope
        Exponents of the two sides between the last points.
    slope, low, high
        Exponent of their ratio in the limit, with the range that it may lie in.
    firm
        Whether the claimed side has its constant in it, so that it has to be at least the measured one at every point.
    """

    parameter: str
    values: tuple[float, ...]
    measured: tuple[float, ...]
    claimed: tuple[float, ...]
    measured_slope: float
    claimed_slope: float
    slope: float
    low: float
    high: float
    firm: bool = False

    @property
    def ratio(self) -> float:
        """Largest measured over claimed."""
        return float(np.max(np.divide(self.measured, self.claimed)))

    @property
    def decision(self) -> Decision:
        """Whether the ratio is bounded, grows or is undecided; with a constant, whether it stays below 1."""
        if self.firm and self.ratio > 1.0 + LOOSE:
            return Decision.VIOLATED
        if self.firm:
            return Decision.INCONCLUSIVE if self.low > CLEAR and self._may_be_crossed() else Decision.HOLDS
        if self.low > TOLERANCE:
            return Decision.VIOLATED
        return Decision.HOLDS if self.falling or self.high <= CLEAR else Decision.INCONCLUSIVE

    def _may_be_crossed(self) -> bool:
        """Return whether growth, if it went on, would exceed the bound within reach."""
        return self.ratio > 0 and -math.log(self.ratio) < self.slope * math.log(REACH)

    @property
    def sides(self) -> tuple[str, str]:
        """Both sides in words: their exponents, or with a constant their values where it is closest or too small."""
        if not self.firm:
            return f"{self.parameter}^{self.measured_slope:.4g}", f"{self.parameter}^{self.claimed_slope:.4g}"
        worst = int(np.argmax(np.divide(self.measured, self.claimed)))
        return f"{self.measured[worst]:.6g}", f"{self.claimed[worst]:.6g}"

    @property
    def falling(self) -> bool:
        """Whether measured over claimed has been falling between the last points."""
        ratios = np.divide(self.measured, self.claimed)[-4:]
        return bool(np.all(np.diff(ratios) <= 0))

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        named = {name: getattr(self, name) for name in self.__slots__}
        return named | {"sides": self.sides, "decision": self.decision.value}


def trend(parameter: str, values: Any, measured: Any, claimed: Any, *, firm: bool = False) -> Trend:
    """Fit the exponents along one sweep.

    >>> t = trend("N", [1, 2, 4, 8, 16, 32], [1, 2, 4, 8, 16, 32], [1, 1, 1, 1, 1, 1])
    >>> round(t.slope, 6), t.decision.value
    (1.0, 'VIOLATED')
    """
    x, y, r = (np.log(np.asarray(side, dtype=float)) for side in (values, measured, claimed))
    slopes = np.diff(y - r) / np.diff(x)
    slope, doubt = _limit(*slopes[-3:])
    return Trend(
        parameter,
        tuple(float(v) for v in values),
        tuple(float(v) for v in measured),
        tuple(float(v) for v in claimed),
        float((y[-1] - y[-2]) / (x[-1] - x[-2])),
        float((r[-1] - r[-2]) / (x[-1] - x[-2])),
        slope,
        slope - doubt,
        slope + doubt,
        firm,
    )


def _limit(first: float, second: float, third: float) -> tuple[float, float]:
    """Return where three exponents in a row are heading, and how uncertain that is."""
    before, after = second - first, third - second
    settling = abs(after) < abs(before)
    step = -after * after / (after - before) if settling else 0.0
    # Steps that shrink slowly would be extrapolated far beyond what was seen.
    step = max(-FURTHEST * abs(after), min(step, FURTHEST * abs(after)))
    return float(third + step), float(max(abs(after), abs(step)))


def in_words(trends: list[Trend]) -> list[str]:
    """Return what sweeps with one decision say, in a few words: one entry per parameter, the steepest first.

    >>> flat, growing = [1, 1, 1, 1, 1], [1, 2, 4, 8, 16]
    >>> sweeps = [trend(name, growing, growing, flat) for name in ("T", "N", "T")]
    >>> in_words(sweeps)
    ['measured over claimed grows like T^1 (2 sweeps), N^1']
    >>> in_words([trend("T", growing, flat, [2 * value for value in growing])] * 3)
    ['bounded along T (3 sweeps, slope -1)', 'largest measured over claimed 0.5']
    """
    if not trends:
        return []
    decision, firm, largest = trends[0].decision, trends[0].firm, max(t.ratio for t in trends)
    if firm and decision is Decision.INCONCLUSIVE:
        grown = _entries(trends, lambda t: t.slope, _exponent, power=True)
        return [
            f"no instance exceeds the bound (at most {largest:.4g} of it), but measured over claimed grows like {grown}"
        ]
    if firm:
        parts = _entries(trends, lambda t: t.ratio, lambda _, group: f"up to {max(t.ratio for t in group):.4g}")
        verb = "above" if decision is Decision.VIOLATED else "below"
        return [f"measured over claimed is {verb} 1 along {parts}"]
    if decision is Decision.VIOLATED:
        return [f"measured over claimed grows like {_entries(trends, lambda t: t.slope, _exponent, power=True)}"]
    if decision is Decision.INCONCLUSIVE:
        return [f"slope uncertain in {_entries(trends, lambda t: t.high, _between)}"]
    parts = _entries(trends, lambda t: t.slope, _steepest)
    return [f"bounded along {parts}", f"largest measured over claimed {largest:.3g}"]


def _entries(
    trends: list[Trend],
    steepness: Callable[[Trend], float],
    detail: Callable[[Trend, list[Trend]], str],
    *,
    power: bool = False,
) -> str:
    """Return one entry per parameter: how many sweeps, if more than one, and a detail; steepest first."""
    groups: dict[str, list[Trend]] = {}
    for t in sorted(trends, key=steepness, reverse=True):
        groups.setdefault(t.parameter, []).append(t)
    made = []
    for parameter, group in groups.items():
        count = [f"{len(group)} sweeps"] if len(group) > 1 else []
        said = ", ".join([*count, *(text for text in [detail(group[0], group)] if text)])
        name = f"{named(parameter, power=True)}^{_short(group[0].slope)}" if power else named(parameter)
        made.append(f"{name} ({said})" if said else name)
    return ", ".join(made)


def _steepest(steepest: Trend, _: list[Trend]) -> str:
    # Where a falling ratio settles slowly, the extrapolated exponent may overshoot zero.
    return "falling" if steepest.falling and steepest.slope > TOLERANCE else f"slope {_short(steepest.slope)}"


def _exponent(steepest: Trend, group: list[Trend]) -> str:
    low = _short(min(t.low for t in group))
    return "" if low == _short(steepest.slope) else f"at least {named(steepest.parameter, power=True)}^{low}"


def _between(_: Trend, group: list[Trend]) -> str:
    return f"between {_short(min(t.low for t in group))} and {_short(max(t.high for t in group))}"


def _short(number: float) -> str:
    """Return a number with three decimals at most; what is zero up to them is zero."""
    return f"{round(number, 3) + 0.0:g}"


def check_rate(claim: Claim, form: Form, check: Sweeps, *, seed: int, memory: Memory | None = None) -> Verdict:
    """Return the verdict on a rate; ``memory`` is shared by the forms of a claim."""
    begin = time.perf_counter()
    trials = Trials(claim, form, check.instances, seed, memory={} if memory is None else memory)
    trends, swept, obstacles = [], [], []
    for sweep in check.sweeps:
        try:
            trends.append(_measure(trials, sweep))
            swept.append(sweep)
        except (Rejected, Diverged, NotApplicable) as error:
            obstacles.append(f"{named(sweep.name)}: {error}")
    growing = [t for t in trends if t.decision is Decision.VIOLATED]
    unclear = [t for t in trends if t.decision is Decision.INCONCLUSIVE]
    worst = max(trends, key=lambda t: t.ratio if t.firm else t.slope, default=None)
    if worst is None:
        decision = Decision.NOT_APPLICABLE
    elif growing:
        decision = Decision.VIOLATED
    else:
        decision = Decision.INCONCLUSIVE if unclear or obstacles else Decision.HOLDS
    reason = "; ".join(
        [*in_words(growing or unclear or ([] if obstacles else trends)), *([] if growing else obstacles)]
    )
    # Sweeps of one parameter may share their values and differ in all else.
    first = next((n for n, t in enumerate(trends) if t.decision is Decision.VIOLATED), None)
    counterexample = None if first is None else _as_counterexample(trials, swept[first], trends[first])
    return Verdict(
        id=claim.id,
        variant=form.variant,
        decision=decision,
        strength=_strength(trends, decision),
        margin=min((1.0 / t.ratio for t in trends), default=None),
        method=check.method.value,
        instances=trials.instances,
        budget=sum(len(sweep.values) for sweep in check.sweeps),
        seconds=time.perf_counter() - begin,
        assumptions=trials.conditions(),
        counterexample=counterexample,
        worst={} if worst is None else {"sweep": worst.parameter, "slope": worst.slope},
        evidence={"sweeps": [t.as_json() for t in trends]},
        reason=reason,
        seed=seed,
    )


def _strength(trends: list[Trend], decision: Decision) -> Strength:
    """Return what the verdict on a rate rests on: exponents, unless every point was compared with a constant."""
    if not all(t.firm for t in trends) or decision is Decision.INCONCLUSIVE:
        return Strength.EXTRAPOLATED
    return Strength.REFUTED_FLOAT if decision is Decision.VIOLATED else Strength.SEARCHED


def _measure(trials: Trials, sweep: Sweep) -> Trend:
    sides = []
    longest = functools.cache(lambda: _longest(trials, sweep))
    for value in sweep.values:
        point = {**sweep.base, sweep.name: value}
        trials.calls += 1
        env = trials.environment(point, longer=longest)
        if not trials.admitted(env):
            raise Rejected(trials.obstacle())
        evaluation = read(trials.form, env)
        lhs, rhs = float(evaluation.lhs), float(evaluation.rhs)
        if not (lhs > 0 and rhs > 0):
            raise Rejected(f"a rate needs positive sides, got {lhs:g} and {rhs:g} at {sweep.name}={value:g}")
        trials.instances += 1
        sides.append((lhs, rhs))
    measured, claimed = zip(*sides, strict=True)
    firm = not any(relation.has(BigO) for relation in trials.form.relations)
    return trend(sweep.name, sweep.values, measured, claimed, firm=firm)


def _longest(trials: Trials, sweep: Sweep) -> Runs | None:
    """Return the runs at the last point of a sweep if those at all others are their beginnings."""
    source = trials.source
    if not isinstance(source, Experiments) or source.horizon != sweep.name:
        return None
    return run_at(source, {**sweep.base, sweep.name: sweep.values[-1]}, seed=trials.seed)


def _as_counterexample(trials: Trials, sweep: Sweep, grown: Trend) -> Counterexample:
    return Counterexample(
        id=trials.claim.id,
        variant=trials.form.variant,
        parameters={**plain(dict(sweep.base)), sweep.name: list(sweep.values)},
        lhs=grown.sides[0],
        rhs=grown.sides[1],
        ratio=grown.ratio if grown.firm else None,
        sign=">",
        relation=0,
        where={},
        arithmetic="float64",
        seed=trials.seed,
    )
