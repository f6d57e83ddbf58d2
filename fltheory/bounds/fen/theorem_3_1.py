r"""Theorem 3.1 (Theorem B.1): convergence of FedElasticNet for FedDyn.

.. math:: \mathbb E\Bigl[\mathcal R\Bigl(\frac1T\sum_{t=0}^{T-1}\gamma^t\Bigr) - \mathcal R(\theta_*)\Bigr]
   \le \frac1T\frac1{\kappa_0}(\mathbb E\|\gamma^0 - \theta_*\|^2 + \kappa C_0) + \frac{\kappa'}{\kappa_0}\lambda_1^2d
   - \frac1T\frac{2\lambda_1}{\lambda_2}\sum_{t=1}^T\Bigl\langle\gamma^{t-1} - \theta_*,
   \frac1m\sum_{k\in[m]}\mathbb E[\operatorname{sign}(\tilde\theta_k^t - \theta^{t-1})]\Bigr\rangle,

with the constants of (41), :math:`\gamma^0 = \theta^0` and
:math:`C_0 = \frac1m\sum_k\mathbb E\|\nabla L_k(\theta_k^0) - \nabla L_k(\theta_*)\|`.

``published@13`` is the main text: no condition on :math:`\lambda_2`, and :math:`\tilde\theta_k^t` with both penalties
centred at :math:`\theta_k^{t-1}`. ``published@18`` is the appendix: :math:`\lambda_2 > 27\beta`, and penalties
centred at the server model (19). Under partial participation :math:`\gamma^{t-1}` is random, so the sum is read as an
expectation.

What is wrong, in the order of weight:

* the signs stand where subgradients belong (Lemma B.3). If all clients are held, nothing ever moves: the left-hand
  side does not depend on :math:`T`, and the first and last term of the right-hand side vanish for
  :math:`T \to \infty`. What is left, of the order :math:`\lambda_1^2d/\lambda_2`, is smaller than the excess risk
  :math:`\lambda_1^2/(2c)` of a loss with small curvature :math:`c`. With a quadratic loss at distance
  :math:`\lambda_1/c` the first term is at least :math:`\frac{\lambda_1^2}{c^2\kappa_0T}`, so that :math:`T >
  \frac2{c\kappa_0} \ge \frac{\lambda_2}\beta` is needed: hundreds of rounds, or thousands near the threshold, where
  :math:`\kappa_0` is small. That is why runs that stand still are among the instances with up to 6000 rounds;
* the last term has lost the factor :math:`1/\kappa_0` by which the proof divides: it has the dimension of a squared
  length where a risk is bounded. For small :math:`\lambda_2` it can make the right-hand side negative, if more clients
  step away from :math:`\theta_*` than towards it;
* :math:`C_0` lacks its square, compare (20);
* without a condition on :math:`\lambda_2` (main text) the constants have wrong signs: between :math:`5\beta` and
  :math:`26.86\,\beta` the proof divides by a :math:`\kappa_0` that is not positive, and below :math:`5\beta`
  :math:`\kappa` and :math:`\kappa'` are negative, so that :math:`\kappa C_T` must not be dropped. With the condition of
  the appendix the main text fails all the same (``published@13-27``).

**Derivation of the corrected form.** Sum Theorem B.6, as corrected for the printed memory, over
:math:`t = 1, \dots, T`, take expectations, drop :math:`-\mathbb E\|\gamma^T - \theta_*\|^2 - \kappa C_T`, divide by
:math:`\kappa_0T > 0` and use convexity of :math:`\mathcal R`.

**Derivation of the corrected form for stored subgradients.** The same with the other form of Theorem B.6: the second
term is not there.

**Derivation of the sharp form.** The same with the sharp form of Theorem B.6, for stored subgradients. There
:math:`\kappa_0 = \frac2{\lambda_2}` for every :math:`\lambda_2 \ge 2(1 + \sqrt2)\beta \approx 4.83\,\beta`.

**Derivation of the corrected form on both sides of the threshold.** Before the division, and with the mean of the
excess risks in place of that of the mean, the sum is true for every :math:`\lambda_2 > 5\beta`. Below
:math:`26.86\,\beta`, where :math:`\kappa_0` is not positive, it is an upper bound on nothing, but still true.

**How sharp they are.** Let one client have a loss that is a parabola with curvature :math:`\beta` near its minimiser
and goes on as a straight line from :math:`\delta` on. Far away its model moves by :math:`h\beta\delta` per round, with
:math:`h \to \frac1{\lambda_2}`, and the excess risk is that of the mean model. If it starts at
:math:`D = Th\beta\delta \gg \delta`, the mean excess risk is :math:`\frac12\beta\delta D = \frac{D^2}{2hT}`, and
:math:`\kappa_0 \to \frac2{\lambda_2}` for large :math:`\lambda_2/\beta`: both sides agree in the limit of many rounds
and a large penalty, so that the factor :math:`\frac1{T\kappa_0}` of the first term cannot be smaller. An instance with
1500 rounds and :math:`\lambda_2 = 300\beta` is among those of every full search.

Without :math:`\kappa C_0` fails a run of three clients whose gradients balance at :math:`\theta_*`, where it starts:
the l1 term holds two of them, so that the third draws the mean away, onto a slope which it comes down again slowly. It
takes hundreds of rounds until the excess risks add up. That :math:`\beta` stands in :math:`\kappa` of the corrected
forms no instance can show: the sharp one does with a fifth of it. Nor has one been found for :math:`\lambda_2 + \beta`
in place of :math:`\lambda_2` in the sharp form.

No form says that the last term vanishes. It is at most :math:`\frac{2\lambda_1}{\lambda_2\kappa_0}` times the mean l1
distance to :math:`\theta_*`.

Instances: up to 60 rounds from the printed start; if participants are drawn, as many as have at most 32 sequences of
draws, which are enumerated; 100 times as many where the first round changes nothing.

Source: the paper's section 3.3, (13), and appendix B.2, (18), (42).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sympy import Gt, Le, Sum, sign

from fltheory.bounds.algebra import EE, Inner, Norm, NormSq
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind
from fltheory.bounds.fen import _observed
from fltheory.bounds.fen._feddyn import KAPPA, KAPPA_0, KAPPA_0_STORED, KAPPA_PRIME, KAPPA_STORED, LARGE, mean
from fltheory.bounds.fen._prox import SHAPES
from fltheory.bounds.fen._round import (
    BEYOND_5,
    BEYOND_27,
    SIZES,
    WIDE,
    Algorithm3,
    Memory,
    State,
    algorithm,
    constants,
    draws,
)
from fltheory.bounds.fen._symbols import beta, d, grad, kappa, kappa_0, kappa_prime, l1, l2, m, risk, theta_star
from fltheory.bounds.functions import Numbers, signs
from fltheory.bounds.quantities import family, scalar
from fltheory.bounds.space import Choice, Integer, Parameter, Params, Real, Space, ratio
from fltheory.bounds.symbols import k, t

LONG = 100
"""Runs that stand still from the first round on are continued by this factor."""

MOST = 32
"""Sequences of draws that are enumerated."""

SLOPE: Params = {
    "P": 1,
    "m": 1,
    "d": 1,
    "T": 1500,
    "centre": np.array([[0.0]]),
    "knot": np.array([[0.5]]),
    "left": np.array([[1.0]]),
    "right": np.array([[0.0]]),
    "beta": 10.0,
    "start": np.array([3.0]),
    "l1": 0.0001,
    "l2_over_beta": 300.0,
}
"""A long way down a slope that bends at its end, which nearly attains the corrected forms."""

BALANCED: Params = {
    **SLOPE,
    "m": 2,
    "T": 4,
    "centre": np.array([[-1.0], [1.0]]),
    "knot": np.zeros((2, 1)),
    "left": np.ones((2, 1)),
    "right": np.ones((2, 1)),
    "beta": 1.0,
    "start": np.array([0.0]),
    "l2_over_beta": 30.0,
}
"""One of two clients that pull apart is drawn, from the minimiser on: only the deviation of gradients bounds that."""

T = scalar("T", "T", "number of rounds", domain="integer>=0")
C_0 = scalar("C_0", "C_0", "gradient deviation at the start", domain="nonnegative")
local_0 = family("local_0", r"\theta_{<0>}^0", "local model at the start", shape=("clients", "dim"))
gamma_0 = scalar("gamma_0", r"\gamma^0", "mean of the participants' models at the start", shape=("dim",))
gamma_mean = scalar(
    "gamma_mean",
    r"\bar\gamma",
    "mean over the rounds of the mean of the participants' models",
    random=True,
    shape=("dim",),
)
excess_mean = scalar(
    "excess_mean",
    r"\bar{\mathcal{R}}",
    "mean over the rounds of the excess risk",
    random=True,
    domain="nonnegative",
)
remembers_signs = scalar(
    "remembers_signs", r"1[\mathrm{sign}]", "1 if signs are stored, 0 if subgradients are", domain="binary"
)


gamma_at = family(
    "gamma_at",
    r"\gamma^{<0>}",
    "mean of the participants' models after a round, before the first one for 0",
    first=0,
    random=True,
    shape=("rounds", "dim"),
)
server_at = family(
    "server_at", r"\theta^{<0>}", "server model after a round", first=0, random=True, shape=("rounds", "dim")
)
tilde_at = family(
    "tilde_at",
    r"\tilde\theta_{<1>}^{<0>}",
    "solution of a client's sub-problem in a round, centred at the server model, were it drawn",
    first=(1, 1),
    random=True,
    shape=("rounds", "clients", "dim"),
)
tilde_own_at = family(
    "tilde_own_at",
    r"\tilde\theta_{<1>}^{<0>}",
    "solution of a client's sub-problem in a round, centred at the client's previous model, were it drawn",
    first=(1, 1),
    random=True,
    shape=("rounds", "clients", "dim"),
)
kick_at = family(
    "kick_at",
    "s_{<1>}^{<0>}",
    "subgradient of the l1 norm with which the optimality condition holds",
    first=(1, 1),
    random=True,
    shape=("rounds", "clients", "dim"),
)
tug_sign = scalar(
    "tug_sign",
    r"\Sigma_T",
    "sum over the rounds of the mean sign along the error, penalties centred at the server model",
    random=True,
)
tug_own = scalar(
    "tug_own",
    r"\Sigma_T",
    "sum over the rounds of the mean sign along the error, penalties centred at the client's previous model",
    random=True,
)
tug_kick = scalar(
    "tug_kick",
    r"\Sigma_T",
    "sum over the rounds of the mean subgradient of the optimality condition along the error",
    random=True,
)


def _tug(force: Any) -> Any:
    """Return the sum over the rounds of the mean of a force of every client along the error."""
    return Sum(Inner(gamma_at[t - 1] - theta_star, Sum(force, (k, 1, m)) / m), (t, 1, T))


Step = tuple[Numbers, ...]
"""Mean of models before a round, the server's model; solutions of all sub-problems, and subgradients."""


def paths(
    fen: Algorithm3, state: State, options: list[tuple[int, ...]], rounds: int, *, own: bool = False
) -> list[list[Step]]:
    """Return all runs, round by round; ``own`` takes sub-problems centred at the local models."""
    found: list[list[Step]] = [[]]
    states = [state]
    for _ in range(rounds):
        longer, after = [], []
        for run, now in zip(found, states, strict=True):
            solved = fen.solve(now)
            tilde = fen.clients.elastic(now.stored, now.local, pull=fen.l2, l1=fen.l1).at if own else solved.tilde
            here = (now.server + now.h / fen.l2, now.server, tilde, solved.kick)
            longer += [[*run, here] for _ in options]
            after += [fen.advance(now, solved, chosen) for chosen in options]
        found, states = longer, after
    return found


def stands_still(fen: Algorithm3, state: State, everyone: tuple[int, ...]) -> bool:
    """Return whether a round changes neither the server nor what is stored."""
    after = fen.advance(state, fen.solve(state), everyone)
    return not any(np.any(new != old) for new, old in ((after.server, state.server), (after.stored, state.stored)))


def realise(point: Params, memory: Memory, *, own: bool = False) -> dict[str, Any]:
    """Return runs from the printed start with all draws; ``own`` as in :func:`paths`."""
    fen, options = algorithm(point, memory), draws(point)
    rounds = point["T"]
    while len(options) > 1 and len(options) ** rounds > MOST:
        rounds -= 1
    begin = fen.start(point["start"])
    times = [1] * rounds
    if len(options) == 1 and stands_still(fen, begin, options[0]):
        # From the second round on all rounds are the same, so that a long run costs nothing.
        rounds *= LONG
        times = [1, rounds - 1]
    runs = paths(fen, begin, options, len(times), own=own)
    env = constants(point, fen)
    optimum, one, counts = env["theta_star"], ratio(point, 1), np.array(times)
    at, server, tilde, kick = (np.array([[step[part] for step in run] for run in runs]) for part in range(4))
    sign = signs(tilde - server[:, :, None])

    def tug(force: Numbers) -> Numbers:
        along = ((at - optimum) * force.sum(axis=2)).sum(axis=-1)
        return np.asarray((counts * along).sum(axis=1) * (one / point["m"]))

    excess = fen.clients.mean(at) - fen.clients.mean(optimum)
    return env | {
        "chance": [ratio(point, 1, len(runs))] * len(runs),
        "T": rounds,
        "local_0": fen.clients.centre,
        "gamma_0": at[0, 0],
        "gamma_at": np.repeat(at, counts, axis=1),
        "server_at": np.repeat(server, counts, axis=1),
        "tilde_own_at" if own else "tilde_at": np.repeat(tilde, counts, axis=1),
        "kick_at": np.repeat(kick, counts, axis=1),
        "gamma_mean": (counts[:, None] * at).sum(axis=1) * (one / rounds),
        "excess_mean": (counts * excess).sum(axis=1) * (one / rounds),
        "tug_own" if own else "tug_sign": tug(sign),
        "tug_kick": tug(kick),
        "remembers_signs": int(memory == "sign"),
    }


def realise_either(point: Params) -> dict[str, Any]:
    """Return the same with the memory of the point."""
    return realise(point, "sign" if point["memory"] == "sign" else "subgradient")


def _space(l2_over_beta: Real, **more: Parameter) -> Space:
    return Space(
        {
            **SIZES,
            "T": Integer(1, 60, furthest=SLOPE["T"]),
            **SHAPES,
            "beta": Real(0.001, 10, log=True),
            "start": Real(-3, 3, shape=("d",)),
            "l1": Real(0.0001, 10, log=True),
            "l2_over_beta": l2_over_beta,
            **more,
        }
    )


def runs(memory: Memory = "sign", *, l2_over_beta: Real = BEYOND_27, own: bool = False) -> Instances:
    """Return runs of the algorithm as instances."""
    begin = () if own or l2_over_beta is WIDE else (SLOPE, BALANCED)
    return Instances(space=_space(l2_over_beta), realise=partial(realise, memory=memory, own=own), begin=begin)


def bound(tug: Any, *, second: Any, third: Any) -> Le:
    """Return the theorem for signs or subgradients and factors of the two additional terms."""
    return Le(
        EE(risk(gamma_mean) - risk(theta_star)),
        1 / T * (1 / kappa_0) * (NormSq(gamma_0 - theta_star) + kappa * C_0) + second - 1 / T * third * EE(tug),
    )


at_start = grad(k, local_0[k]) - grad(k, theta_star)
averaged = (gamma_mean, Sum(gamma_at[t], (t, 0, T - 1)) / T)
excess = (excess_mean, Sum(risk(gamma_at[t - 1]) - risk(theta_star), (t, 1, T)) / T)
kicks = (tug_kick, _tug(kick_at[t, k]))
printed = (KAPPA, KAPPA_0, KAPPA_PRIME, (C_0, mean(Norm(at_start))), averaged)
squared = (KAPPA, KAPPA_0, KAPPA_PRIME, (C_0, mean(NormSq(at_start))), kicks)
centred_at_own = (*printed, (tug_own, _tug(sign(tilde_own_at[t, k] - server_at[t - 1]))))
centred_at_server = (*printed, (tug_sign, _tug(sign(tilde_at[t, k] - server_at[t - 1]))))
l1_term = kappa_prime / kappa_0 * l1**2 * d
condition = (Assumption("large quadratic penalty", Gt(l2, 27 * beta)),)
both_sides = (Assumption("quadratic penalty beyond the pole of the constants", Gt(l2, 5 * beta)),)
either = Instances(
    space=_space(Real(5.01, 300, log=True), memory=Choice(("sign", "subgradient"))),
    realise=realise_either,
    begin=tuple({**one, "memory": memory} for one in (SLOPE, BALANCED) for memory in ("sign", "subgradient")),
)

claim = Claim(
    id="fen.theorem-3.1",
    kind=Kind.BOUND,
    title="convergence of FedElasticNet for FedDyn",
    citation=Citation("fen", "Theorem 3.1, (13), and Theorem B.1, (18)"),
    forms=(
        Form(
            variant="published@13",
            statement=bound(tug_own, second=l1_term, third=2 * l1 / l2),
            where=centred_at_own,
            assumptions=(),
            check=runs(l2_over_beta=WIDE, own=True),
            note="main text: any lambda_2, sub-problems centred at the local model",
        ),
        Form(
            variant="published@13-27",
            statement=bound(tug_own, second=l1_term, third=2 * l1 / l2),
            where=centred_at_own,
            check=runs(own=True),
            note="main text with the condition of the appendix, lambda_2 > 27 beta",
        ),
        Form(
            variant="published@18",
            statement=bound(tug_sign, second=l1_term, third=2 * l1 / l2),
            where=centred_at_server,
            note="appendix: lambda_2 > 27 beta, sub-problems centred at the server model",
        ),
        Form(
            variant="corrected",
            statement=bound(tug_kick, second=l1_term, third=1 / kappa_0 * (2 * l1 / l2)),
            where=(*squared, averaged),
            note="printed memory; subgradients in place of signs, 1/kappa_0 in the last term, squares in C_0",
        ),
        Form(
            variant="corrected@subgradient",
            statement=bound(tug_kick, second=0, third=1 / kappa_0 * (2 * l1 / l2)),
            where=(*squared, averaged),
            check=runs("subgradient"),
            observation=_observed.main_bound("subgradient"),
            note="subgradients stored: no second term",
        ),
        Form(
            variant="sharp",
            statement=bound(tug_kick, second=0, third=1 / kappa_0 * (2 * l1 / l2)),
            where=(KAPPA_STORED, KAPPA_0_STORED, (C_0, mean(NormSq(at_start))), kicks, averaged),
            assumptions=(LARGE,),
            check=runs("subgradient", l2_over_beta=BEYOND_5),
            observation=_observed.main_bound("subgradient"),
            note="smaller constants, and a smaller penalty, if subgradients are stored",
        ),
        Form(
            variant="corrected@both-sides",
            statement=Le(
                kappa_0 * EE(excess_mean),
                (NormSq(gamma_0 - theta_star) + kappa * C_0) / T
                + remembers_signs * kappa_prime * l1**2 * d
                - 2 * l1 / (l2 * T) * EE(tug_kick),
            ),
            where=(*squared, excess),
            assumptions=both_sides,
            check=either,
            observation=_observed.main_bound(),
            note="mean excess risk, before the division by kappa_0; either memory",
        ),
    ),
    assumptions=condition,
    uses=("fen.theorem-b.6", "fen.eq-41"),
    check=runs(),
    observation=_observed.main_bound("sign"),
)
