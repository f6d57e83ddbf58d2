r"""Proof of Theorem 1, induction: the one-step inequality gives a rate of :math:`1/t`.

With :math:`\eta_t = \frac2{\mu(\gamma + t)}` and :math:`\Delta_{t+1} \le (1 - \eta_t\mu)\Delta_t + \eta_t^2B`, as
published, :math:`\Delta_t \le \frac v{\gamma + t}` implies :math:`\Delta_{t+1} \le \frac v{\gamma + t + 1}` for
:math:`v \ge \frac{4B}{\mu^2}`; the induction begins with :math:`v \ge (\gamma + 1)\Delta_1`.

With :math:`v = \max\{\frac{4B}{\mu^2}, (\gamma+1)\Delta_1\}`, as printed, the theorem has :math:`\gamma + T` in place
of :math:`\gamma + T - 1`, and :math:`\gamma + 1` in place of :math:`\gamma`. Form ``published@first-rate`` is
the same for the rates :math:`\frac2{\mu(\gamma + t - 1)}`, which give the theorem as printed.

**Derivation of the sharp form.** For the rates as printed the theorem may begin one step earlier, with
:math:`\gamma\Delta_1`: with :math:`x = \gamma + t`, :math:`\Delta_t \le \frac v{x-1}` gives

.. math:: \Delta_{t+1} \le \Bigl(1 - \frac2x\Bigr)\frac v{x-1} + \frac v{x^2} = \frac{x^2-x-1}{x^2(x-1)}\,v \le
   \frac vx .

Instances: any numbers; :math:`\Delta_{t+1}` is as large as the recursion allows.

Source: Li et al., ICLR 2020, appendix A, proof of Theorem 1; as it is commonly quoted, not yet compared with the print.
"""

from __future__ import annotations

from typing import Any

from sympy import Ge, Le

from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.symbols import mu
from fltheory.problems.problem import Origin

now = scalar("now", r"\Delta_t", "expected squared distance before the step", domain="nonnegative")
later = scalar("later", r"\Delta_{t+1}", "expected squared distance after the step", domain="nonnegative")
gamma = scalar("gamma", r"\gamma", "offset of the learning rate", domain="positive")
t = scalar("time", "t", "number of the step", domain="integer>=1")
B = scalar("B", "B", "what noise, heterogeneity and local steps add per step", domain="nonnegative")
v = scalar("v", "v", "what the rate begins with", domain="nonnegative")
eta = scalar("eta", r"\eta_t", "learning rate of the step", domain="positive")


def realise(point: Params, *, earlier: int, before: int) -> dict[Any, Any]:
    """Return a step; rates count from ``earlier`` less, and the bound before it from ``before`` less."""
    offset = point["gamma"] + point["t"] - earlier
    level = point["v"]
    known = level / (point["gamma"] + point["t"] - before)
    eta = 2 / (point["mu"] * offset)
    added = level * point["mu"] ** 2 / 4 * point["share"]
    distance = known * point["reached"]
    return {
        "mu": point["mu"],
        gamma: point["gamma"],
        t: point["t"],
        B: added,
        v: level,
        "eta": eta,
        now: distance,
        later: (1 - eta * point["mu"]) * distance + eta**2 * added,
    }


def steps(*, earlier: int, before: int) -> Instances:
    """Return steps from any distance that the induction allows."""

    def made(point: Params) -> dict[Any, Any]:
        return realise(point, earlier=earlier, before=before)

    return Instances(
        space=Space(
            {
                "t": Integer(1, 100),
                "gamma": Real(8, 1e4, log=True),
                "mu": Real(0.01, 10, log=True),
                "v": Real(0.01, 100, log=True),
                "share": Real(0, 1),
                "reached": Real(0, 1),
            }
        ),
        realise=made,
    )


def known(*, earlier: int, before: int) -> tuple[Assumption, ...]:
    """Return the recursion and what the induction has given so far."""
    return (
        Assumption("offset", Ge(gamma, 8), Origin.DECLARED),
        Assumption("strong convexity", mu > 0, Origin.DECLARED),
        Assumption("learning rate, at least", Ge(eta * mu * (gamma + t - earlier), 2), Origin.DECLARED),
        Assumption("learning rate, at most", Le(eta * mu * (gamma + t - earlier), 2), Origin.DECLARED),
        Assumption("recursion", Le(later, (1 - eta * mu) * now + eta**2 * B), Origin.DECLARED),
        Assumption("constant", Le(4 * B, mu**2 * v), Origin.DECLARED),
        Assumption("so far", Le(now * (gamma + t - before), v), Origin.DECLARED),
    )


claim = Claim(
    id="li.induction",
    kind=Kind.LEMMA,
    title="from one step to the rate of Theorem 1",
    citation=Citation("li", "Theorem 1, induction"),
    forms=(
        Form(statement=Le(later, v / (gamma + t + 1)), note="rates as printed"),
        Form(
            variant="published@first-rate",
            statement=Le(later, v / (gamma + t)),
            assumptions=known(earlier=1, before=1),
            check=steps(earlier=1, before=1),
            note="rates from 2 / (mu gamma) on",
        ),
        Form(
            variant="sharp",
            statement=Le(later, v / (gamma + t)),
            assumptions=known(earlier=0, before=1),
            check=steps(earlier=0, before=1),
            note="rates as printed, and a bound that begins one step earlier",
        ),
    ),
    assumptions=known(earlier=0, before=0),
    check=steps(earlier=0, before=0),
)
