r"""Theorem VII, strongly convex: rate of SCAFFOLD.

For :math:`\eta_l \le \min\bigl(\frac1{81\beta K\eta_g}, \frac S{15\mu NK\eta_g}\bigr)`, :math:`\eta_g \ge 1` and
:math:`R \ge \max(\frac{162\beta}\mu, \frac{30N}S)` there are weights such that the output :math:`\bar x^R`, one of
:math:`x^0, \dots, x^R` drawn with them, satisfies, as published,

.. math:: \mathbb E[f(\bar x^R)] - f(x^*) \le \tilde O\Bigl(\frac{\sigma^2}{\mu RKS}\bigl(1 +
   \tfrac S{\eta_g^2}\bigr) + \mu\tilde D^2\exp\Bigl(-\min\Bigl\{\frac S{30N}, \frac\mu{162\beta}\Bigr\}R\Bigr)\Bigr),
   \qquad \tilde D^2 = \|x^0 - x^*\|^2 + \frac1{2S\beta^2}\sum_i\|c_i^0 - \nabla f_i(x^*)\|^2 .

With constants (form ``published@constants``), which is what the one-round progress of the appendix unrolls to with
:math:`h = K\eta_g\eta_l` and :math:`w_r = (1 - \frac{\mu h}2)^{-(r+1)}`, :math:`W_R = \sum_{r<R}w_r`,

.. math:: \frac1{W_R}\sum_{r<R}w_r\bigl(\mathbb E[f(x^r)] - f(x^*)\bigr) \le \frac{V_0}{hW_R} +
   \frac{12h\sigma^2}{KS}\Bigl(1 + \frac S{\eta_g^2}\Bigr), \qquad
   V_0 = \|x^0 - x^*\|^2 + \frac{9Nh^2}S\cdot\frac1N\sum_i\|c_i^0 - \nabla f_i(x^*)\|^2 .

**What the proof rests on.** Of the two readings of the control-lag, the one in which Lemmas 11 to 13 are true
(:mod:`~fltheory.bounds.scaffold.lemma_11`, ``published@minibatches``) is the one with which the printed proof of Lemma
14 goes through: in the sum of Lemma 11, of Lemma 12 times :math:`9\tilde\eta^2\frac NS`, of Lemma 13 and of Lemma 5 the
gap has the factor :math:`44\beta\tilde\eta^2 - \frac{49}{25}\tilde\eta \le -\tilde\eta`, the drift
:math:`22\beta^2\tilde\eta^2 - \beta\tilde\eta \le 0`, the control-lag before the round
:math:`\bigl(\frac{9\mu\tilde\eta N}{2S} - \frac13\bigr)\tilde\eta^2 \le 0` besides
:math:`(1 - \frac{\mu\tilde\eta}2)9\tilde\eta^2\frac NS`, and the noise :math:`\frac{12\tilde\eta^2\sigma^2}{KS} +
\frac{\tilde\eta^2\sigma^2}{K\eta_g^2}`. Summed with the weights :math:`w_r` this is the form with constants. The
noises of two clients are independent, as in Lemma 7.

Instances: two or three clients with quadratics of different curvature, all of them or one sampled, control variates
that start at zero, noise from none to large; expectations by the exact engine. The rate is swept over rounds, noise,
local steps and curvature with the step :math:`h` that balances both terms of the form with constants.

Source: Karimireddy et al., 2020, Theorem VII, page 25 of the supplement, and Lemma 14.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Le, Max, Min, exp, log

from fltheory.algorithms.scaffold import Scaffold
from fltheory.bounds.algebra import BigO, Env
from fltheory.bounds.claim import Assumption, Citation, Claim, Experiments, Form, Kind, Sweep, Sweeps
from fltheory.bounds.quantities import scalar
from fltheory.bounds.scaffold._observed_scaffold import observed, observed_rate
from fltheory.bounds.scaffold._symbols import INDEPENDENT, K, R, S, beta, eta_g, sigma_sq, step
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.symbols import N, mu
from fltheory.participation import Participation
from fltheory.participation.selection import Everyone, WithoutReplacement
from fltheory.problems.problem import Origin
from fltheory.quadratic.problem import Quadratic
from fltheory.simulation.experiment import Experiment
from fltheory.simulation.trajectories import Trajectories

error = scalar("error", r"\mathbb E[f(\bar x^R)] - f(x^*)", "expected gap of the output", domain="nonnegative")
start_sq = scalar("start_sq", r"\|x^0 - x^*\|^2", "squared distance of the start", domain="nonnegative")
off_sq = scalar(
    "off_sq",
    r"\tfrac1N\sum_i\|c_i^0 - \nabla f_i(x^*)\|^2",
    "mean squared distance of the first control variates",
    domain="nonnegative",
)
ell = scalar("ell", r"\ell", "logarithm of what the start shrinks by", domain="positive")
D_sq = scalar("D_sq", r"\tilde D^2", "squared distance of the start, with control variates", domain="nonnegative")
V_0 = scalar("V_0", "V_0", "potential of the start", domain="nonnegative")
W_R = scalar("W_R", "W_R", "sum of the weights", domain="positive")

SPACE = Space(
    {
        "N": Integer(2, 3, far=5),
        "S": Integer(1, 3),
        "K": Integer(1, 5, far=300),
        "R": Integer(4, 60, far=600),
        "condition": Real(1, 100, log=True, far=1e6),
        "spread": Real(0, 1, shape=("N",)),
        "pull": Real(-3, 3, shape=("N",)),
        "start": Real(0, 5),
        "sigma": Real(0, 5),
        "step": Real(0.05, 1, log=True),
        "eta_g": Real(1, 5, log=True),
    }
)


def problem(point: Params) -> Quadratic:
    """Return clients with curvatures in the range on a steep axis, and the smallest one on a flat axis."""
    number = int(point["N"])
    low = 1.0 / float(point["condition"])
    steep = low + (1.0 - low) * np.asarray(point["spread"], dtype=float)
    pull = np.asarray(point["pull"], dtype=float)
    return Quadratic(
        hessian=np.stack([steep, np.full(number, low)], axis=1),
        linear=np.stack([pull - pull.mean(), np.zeros(number)], axis=1),
        constant=np.zeros(number),
        noise_sq=np.full(number, float(point["sigma"]) ** 2),
        start=np.full(2, float(point["start"])),
        sample_counts=np.ones(number),
    )


def size(point: Params) -> int:
    """Return how many clients are sampled."""
    return int(min(point["S"], point["N"]))


def effective(point: Params) -> float:
    """Return the effective step: a part of the largest one, or for a rate the one that balances both terms."""
    low, number, chosen = 1.0 / float(point["condition"]), int(point["N"]), size(point)
    most = min(1 / 81, chosen / (15 * low * number))
    if "step" in point:
        return float(point["step"]) * most
    rounds, noise = float(point["R"]), float(point["sigma"]) ** 2 / (float(point["K"]) * chosen)
    far = 2 * float(point["start"]) ** 2
    ratio = low**2 * rounds * far / (12 * noise * (1 + chosen / float(point["eta_g"]) ** 2)) if noise > 0 else np.inf
    return min(most, 2 * float(np.log(max(2.0, ratio))) / (low * rounds))


def experiment(point: Params) -> Experiment:
    """Return a run of SCAFFOLD."""
    number, chosen = int(point["N"]), size(point)
    return Experiment(
        problem=problem(point),
        algorithm=Scaffold(server_rate=float(point["eta_g"])),
        participation=Participation(
            num_clients=number,
            local_steps=int(point["K"]),
            selection=Everyone() if chosen == number else WithoutReplacement(size=chosen, renormalise=True),
        ),
        rounds=int(point["R"]),
        rate=effective(point) / (float(point["K"]) * float(point["eta_g"])),
    )


def quantities(point: Params, run: Experiment, trajectories: Trajectories) -> Env:
    """Return both sides after every number of rounds."""
    made = run.problem
    assert isinstance(made, Quadratic)
    gaps = trajectories.curve("gap").mean(axis=0)
    low, h = 1.0 / float(point["condition"]), effective(point)
    weights = (1 - low * h / 2) ** -np.arange(1.0, len(gaps))
    w_star = made.objective().w_star
    goal = made.hessian * w_star + made.linear
    return {
        "N": float(point["N"]),
        "S": float(size(point)),
        "K": float(point["K"]),
        "R": np.arange(1.0, len(gaps)),
        "mu": low,
        "beta": 1.0,
        "sigma_sq": float(point["sigma"]) ** 2,
        "eta_g": float(point["eta_g"]),
        "eta_tilde": h,
        "start_sq": float(((made.start - w_star) ** 2).sum()),
        "off_sq": float((goal**2).sum(axis=1).mean()),
        "W_R": weights.cumsum(),
        "dependence": 0.0,
        "error": (weights * gaps[:-1]).cumsum() / weights.cumsum(),
    }


def at_end(point: Params, run: Experiment, trajectories: Trajectories) -> Env:
    """Return both sides after the last round."""
    return {
        name: value[-1] if np.ndim(value) else value for name, value in quantities(point, run, trajectories).items()
    }


noise = sigma_sq / (mu * R * K * S) * (1 + S / eta_g**2)
decay = mu * D_sq * exp(-Min(S / (30 * N), mu / (162 * beta)) * R)
base: dict[str, Any] = {
    "N": 2,
    "S": 2,
    "K": 3,
    "R": 1024,
    "condition": 2.0,
    "spread": np.array([1.0, 0.2]),
    "pull": np.array([1.0, -1.0]),
    "start": 1e4,
    "sigma": 100.0,
    "eta_g": 1.0,
}
alike = {**base, "sigma": 1e6, "start": 1.0, "spread": np.zeros(2)}

SMALL = Assumption("step", Le(step, Min(1 / (81 * beta), S / (15 * mu * N))), Origin.DECLARED)
LARGE = Assumption("global step", Le(1, eta_g), Origin.DECLARED)
LONG = Assumption("enough rounds", Le(Max(162 * beta / mu, 30 * N / S), R), Origin.DECLARED)

claim = Claim(
    id="scaffold.theorem-vii-sc",
    kind=Kind.RATE,
    title="rate of SCAFFOLD, strongly convex",
    citation=Citation("scaffold", "Theorem VII"),
    forms=(
        Form(
            statement=Le(error, BigO(ell * noise + decay)),
            where=((D_sq, start_sq + N / (2 * S * beta**2) * off_sq), (ell, log(2 + beta * D_sq / error))),
            check=Sweeps(
                instances=Experiments(space=SPACE, experiment=experiment, quantities=at_end),
                sweeps=(
                    Sweep("R", (384.0, 512.0, 768.0, 1024.0, 1536.0, 2048.0), base),
                    Sweep("sigma", (25.0, 50.0, 100.0, 200.0, 400.0), base),
                    Sweep("K", (1.0, 2.0, 4.0, 8.0, 16.0), base),
                    Sweep(
                        "condition",
                        (1.0, 1.5, 2.0, 3.0, 4.0),
                        alike,
                    ),
                ),
            ),
            assumptions=(SMALL, LARGE, INDEPENDENT, LONG),
            observation=observed_rate,
            note="one logarithm of what the start shrinks by for the tilde",
        ),
        Form(
            variant="published@constants",
            statement=Le(error, V_0 / (step * W_R) + 12 * step * sigma_sq / (K * S) * (1 + S / eta_g**2)),
            where=((V_0, start_sq + 9 * N * step**2 / S * off_sq),),
            note="with the constants that the one-round progress of the appendix unrolls to",
        ),
    ),
    assumptions=(SMALL, LARGE, INDEPENDENT),
    uses=(
        "scaffold.lemma-1",
        "scaffold.lemma-5",
        "scaffold.lemma-11",
        "scaffold.lemma-12",
        "scaffold.lemma-13",
    ),
    check=Experiments(space=SPACE, experiment=experiment, quantities=quantities),
    observation=observed,
)
