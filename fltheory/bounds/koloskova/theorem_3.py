r"""Theorem 3: heterogeneity costs gossip iterations, whatever the step size.

"For :math:`n > 1` there exists strongly convex and smooth functions :math:`f_i` with :math:`L = \mu = 1` and without
stochastic noise, such that Algorithm 1 for every constant mixing matrix :math:`W^{(t)} \equiv W` with :math:`p < 1` for
:math:`\tau = 1`, requires", as published,

.. math:: T = \tilde\Omega\Bigl(\frac{\bar\zeta(1-p)}{\sqrt\epsilon\,p}\Bigr)

iterations to converge to accuracy :math:`\epsilon`. The functions are those of
:func:`~fltheory.quadratic.hard.spread_minimisers`, :math:`f_i(x) = \frac12(x - y_i)^2`, the start and :math:`y -
\mathbf 1` are an eigenvector of :math:`W` for :math:`\lambda_2`.

**Readings.** The proof takes :math:`\frac1n\sum_i(x_i^{(t)} - x^\star)^2` for the accuracy and says that
:math:`\lambda_2 = \sqrt{1-p}`: form ``published``, and ``published@constants`` for its last line, (34),
:math:`T \ge \frac{\bar\zeta\sqrt{1-p}\log\frac1\epsilon}{4\sqrt\epsilon p}` for :math:`\epsilon \le
\frac{\bar\zeta^2(1-p)}{16}`. Both hold, although "here we used that :math:`\log(1-\eta) \ge -\eta`" is the wrong way
round.

* Form ``published@every-matrix``: :math:`p` belongs to the eigenvalue of largest modulus, which may be negative. Two
  clients with :math:`W = \frac12\begin{pmatrix}1-\ell&1+\ell\\1+\ell&1-\ell\end{pmatrix}` have :math:`\lambda_2 =
  -\ell` and :math:`p = 1 - \ell^2`; models change sides in every iteration, so that what pulls them apart does not add
  up, and a step of :math:`\sqrt\epsilon/\bar\zeta` is enough, however small :math:`p` is. With two clients there is no
  other direction off the mean, so that other functions do not help.
* Form ``published@mean-model``: in Theorem 2 accuracy is that of the mean model. For :math:`L = \mu = 1` all functions
  are :math:`\frac12\|x - y_i\|^2` up to constants, so that the mean model moves as in gradient descent and one
  iteration with :math:`\eta = 1` reaches the minimiser. So the theorem does not show that terms of Theorem 2 are
  necessary.

**Derivation of the sharp form.** Write :math:`z_t` for the part of :math:`x^{(t)}` along the eigenvector, relative to
the start: :math:`z_0 = 1`, :math:`z_{t+1} = \lambda\bigl((1-\eta)z_t + \eta\bigr)` with :math:`\lambda = \sqrt{1-p} \ge
0`, and the error is :math:`(1-\eta)^{2t} + \bar\zeta^2z_t^2`. For :math:`\eta \le 1` the :math:`z_t` fall towards
:math:`z_\infty = \frac{\eta\lambda}{1-\lambda+\eta\lambda}`. If the error is :math:`\epsilon` after :math:`T`
iterations, then :math:`z_\infty \le s := \sqrt\epsilon/\bar\zeta`, hence :math:`\frac1\eta - 1 \ge
\frac{\lambda-s}{s(1-\lambda)}`, and from :math:`(1-\eta)^{2T} \le \epsilon` with :math:`-\log(1-\eta) \le
\frac\eta{1-\eta}`

.. math:: T \ge \frac12\log\frac1\epsilon\cdot\frac{\lambda\bar\zeta/\sqrt\epsilon - 1}{1-\lambda} .

For :math:`1 < \eta < 2` no :math:`z_t` with :math:`t \ge 1` is below :math:`z_1 = \lambda`, and for larger steps the
mean diverges, so that the right-hand side is not positive. It is attained in the limit :math:`\epsilon \to 0`, up to a
factor that tends to 1. (34) follows, with :math:`1 - \lambda \le p`.

**Derivation of the sharp form** ``sharp@common-start``, for clients that all start at 0. Now :math:`z_T =
z_\infty(1 - (\lambda(1-\eta))^T)`, and the power is at most :math:`\sqrt\epsilon`; so :math:`s/(1-\sqrt\epsilon)` takes
the place of :math:`s`.

Instances: the recursion, with any step; for the law up to a constant the step that needs fewest iterations, along
sweeps of :math:`\epsilon`, :math:`\bar\zeta` and :math:`\frac1p`; runs of gossip SGD by the exact engine, on complete
graphs and rings.

Source: Koloskova et al., 2020, Theorem 3, page 6, and appendix E, with :math:`\bar\zeta^2 = \|x^{(0)}\|^2` for
:math:`\frac1n\|x^{(0)}\|^2` and :math:`\log\frac n\epsilon` for :math:`\log\frac1\epsilon` in the proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from sympy import Le, Lt, log, sqrt

from fltheory.algorithms.gossip_sgd import GossipSGD
from fltheory.bounds import hard_problems
from fltheory.bounds.algebra import BigO, Pos
from fltheory.bounds.claim import (
    Assumption,
    Citation,
    Claim,
    Experiments,
    Form,
    Instances,
    Kind,
    Method,
    Sweep,
    Sweeps,
)
from fltheory.bounds.koloskova._symbols import p
from fltheory.bounds.observation import Facts, Observation, Requirement
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Choice, Integer, Params, Real, Space
from fltheory.errors import NotApplicable
from fltheory.participation import Participation
from fltheory.problems.problem import Origin
from fltheory.quadratic.hard import spread_minimisers
from fltheory.simulation.experiment import Experiment

zeta_bar = scalar("zeta_bar", r"\bar\zeta", "root mean square of the gradients at the minimiser", domain="positive")
eps = scalar("eps", r"\epsilon", "accuracy that is reached", domain="positive")
T = scalar("T", "T", "number of iterations", domain="positive")
lam = scalar("lam", r"\lambda", "second largest eigenvalue of the mixing matrix", domain="nonnegative")

SMALL = Assumption("accuracy", Le(eps, zeta_bar**2 * (1 - p) / 16), Origin.DECLARED)
APART = Assumption("models are not all averaged", Lt(p, 1), Origin.DECLARED)
POSITIVE = (lam, sqrt(1 - p))


def enough(point: Params, *, sign: int) -> dict[str, Any]:
    """Return a number of iterations that is enough for an accuracy, with the best step of a grid.

    For eigenvalues that are not negative it is the smallest number for these steps; otherwise what changes sign from
    iteration to iteration is replaced by its modulus, so that the number may be a little too large.
    """
    accuracy, zeta, rate = 1.0 / float(point["finer"]), float(point["zeta"]), 1.0 / float(point["inverse"])
    value = sign * np.sqrt(1 - rate)
    steps = np.geomspace(1e-6, 1e3, 901) * np.sqrt(accuracy) / zeta
    steps = np.append(steps[steps < 1], 1.0)
    settled = steps * value / (1 - value * (1 - steps))

    def error(count: Any) -> Any:
        left = np.abs(value * (1 - steps)) ** count
        apart = settled + (1 - settled) * left if sign > 0 else np.abs(settled) + (1 - settled) * left
        return (1 - steps) ** (2 * count) + zeta**2 * apart**2

    low, high = np.zeros(len(steps)), np.full(len(steps), 2.0**60)
    for _ in range(60):
        middle = np.floor((low + high) / 2)
        there = error(middle) <= accuracy
        low, high = np.where(there, low, middle), np.where(there, middle, high)
    return {"zeta_bar": zeta, "p_mix": rate, "eps": accuracy, "T": float(high.min())}


def mean_model(point: Params) -> dict[str, Any]:
    """Return the number of iterations after which the mean model has an accuracy, with steps of 1."""
    accuracy, rate = 1.0 / float(point["finer"]), 1.0 / float(point["inverse"])
    step, gap, count = 1.0, 0.5, 0
    while gap > accuracy:
        gap, count = (1 - step) ** 2 * gap, count + 1
    return {"zeta_bar": float(point["zeta"]), "p_mix": rate, "eps": accuracy, "T": float(count)}


def recursion(point: Params) -> dict[str, Any]:
    """Return the error after some iterations with any step."""
    rate, count = 1.0 / float(point["inverse"]), round(float(point["T"]))
    value, zeta, step = np.sqrt(1 - rate), float(point["zeta"]), float(point["step"])
    settled = step * value / (1 - value * (1 - step))
    apart = settled + (1 - settled) * (value * (1 - step)) ** count
    error = (1 - step) ** (2 * count) + zeta**2 * apart**2
    return {"zeta_bar": zeta, "p_mix": rate, "eps": float(error), "T": count}


def experiment(point: Params) -> Experiment:
    """Return a run of gossip SGD."""
    number, weight = int(point["n"]), float(point["weight"])
    place = 2 * np.pi * np.arange(number) / number
    if point["graph"] == "ring":
        matrix = GossipSGD(mixing="ring").matrix(0, np.full(number, 1 / number))
        matrix = (1 - weight) * np.eye(number) + weight * matrix
    else:
        matrix = (1 - weight) * np.eye(number) + weight / number
    return Experiment(
        problem=spread_minimisers(pattern=np.cos(place), zeta=float(point["zeta"])),
        algorithm=GossipSGD(mixing=[matrix.tolist()]),
        participation=Participation(num_clients=number, local_steps=1),
        rounds=int(point["rounds"]),
        rate=float(point["step"]),
    )


def quantities(point: Params, made: Experiment, run: Any) -> dict[str, Any]:
    """Return the errors after every number of iterations."""
    algorithm = made.algorithm
    assert isinstance(algorithm, GossipSGD)
    values = np.linalg.eigvalsh(algorithm.matrix(0, made.problem.weights))
    error = run.curve("distance_sq")[0, 1:] + run.curve("consensus_sq")[0, 1:]
    return {
        "zeta_bar": float(point["zeta"]),
        "p_mix": 1 - float(max(values[-2], -values[0])) ** 2,
        "eps": error,
        "T": np.arange(1.0, len(error) + 1),
    }


def about(facts: Facts) -> str:
    """Return the setting in words; refuse other problems, algorithms, and matrices of which it is not the bound."""
    algorithm = facts.algorithm
    if not isinstance(algorithm, GossipSGD) or len(algorithm.mixing) > 1:
        raise NotApplicable(f"the lower bound is about gossip SGD with one mixing matrix, got {algorithm!r}")
    hard_problems.spread_minimisers(facts)
    return f"gossip SGD, {facts.num_clients} nodes"


def conditions(facts: Facts) -> Sequence[Requirement]:
    """Return that minimisers are spread along the eigenvector of the second largest eigenvalue, a positive one."""
    matrix, pattern = _matrix(facts), np.asarray(hard_problems.spread_minimisers(facts)["pattern"])
    values = np.linalg.eigvalsh(matrix)
    along = float(np.abs(matrix @ pattern - values[-2] * pattern).max() / np.abs(pattern).max())
    return [
        Requirement("one local step", facts.local_steps == 1, f"{facts.local_steps} local steps"),
        Requirement("all nodes work", facts.everybody_completes(), "in every iteration"),
        hard_problems.one_step_size(facts),
        Requirement("minimisers along the second eigenvector", along < 1e-9, f"off by {along:.3g}"),
        Requirement(
            "second largest eigenvalue is the largest modulus",
            values[-2] >= -values[0] - 1e-12,
            f"{values[-2]:g} against {-values[0]:g}",
        ),
    ]


def _matrix(facts: Facts) -> Any:
    algorithm = facts.algorithm
    assert isinstance(algorithm, GossipSGD)
    return algorithm.matrix(0, facts.problem.weights)


def observed(facts: Facts) -> dict[str, Any]:
    """Return the errors of all models after every number of iterations."""
    values = np.linalg.eigvalsh(_matrix(facts))
    errors = facts.run.curve("distance_sq")[0, 1:] + facts.run.curve("consensus_sq")[0, 1:]
    return {
        "zeta_bar": hard_problems.spread_minimisers(facts)["zeta"],
        "p_mix": 1 - float(max(values[-2], -values[0])) ** 2,
        "eps": errors,
        "T": np.arange(1.0, facts.rounds + 1),
    }


SPACE = Space(
    {
        "finer": Real(1, 1e12, log=True),
        "zeta": Real(0.01, 100, log=True),
        "inverse": Real(1.01, 1e6, log=True),
    }
)
BASE = {"finer": 1e6, "zeta": 1.0, "inverse": 10.0}
INVERSES = Sweep("inverse", (4.0, 16.0, 64.0, 256.0, 1024.0, 4096.0), BASE)
ACCURACIES = Sweep("finer", (1e5, 1e6, 1e7, 1e8, 1e9, 1e10), BASE)
SPREADS = Sweep("zeta", (1.0, 4.0, 16.0, 64.0, 256.0), BASE)


def tuned(realise: Any, *sweeps: Sweep) -> Sweeps:
    """Return sweeps with the best step at every point."""
    return Sweeps(instances=Instances(space=SPACE, realise=realise, method=Method.EXACT, rational=False), sweeps=sweeps)


law = Le(zeta_bar * (1 - p) / (sqrt(eps) * p), BigO(T))
bound = Pos(log(1 / eps)) / 2 / (1 - lam)
any_step = Instances(
    space=Space(
        {
            "T": Real(1, 1e5, log=True),
            "zeta": Real(0.01, 100, log=True),
            "inverse": Real(1.001, 1e4, log=True),
            "step": Real(1e-5, 1.9, log=True),
        }
    ),
    realise=recursion,
    method=Method.EXACT,
    rational=False,
    effort=2,
)
runs = Experiments(
    space=Space(
        {
            "n": Integer(4, 7),
            "rounds": Integer(4, 150),
            "graph": Choice(("complete", "ring")),
            "weight": Real(0.01, 0.75, log=True),
            "zeta": Real(0.01, 100, log=True),
            "step": Real(1e-3, 1.9, log=True),
        }
    ),
    experiment=experiment,
    quantities=quantities,
    record={"consensus": True},
)

claim = Claim(
    id="koloskova.theorem-3",
    kind=Kind.LOWER,
    title="lower bound for gossip with different minimisers",
    citation=Citation("koloskova", "Theorem 3"),
    forms=(
        Form(
            statement=law,
            check=tuned(partial(enough, sign=1), INVERSES, ACCURACIES, SPREADS),
            intended=("published@mean-model",),
            note="error of all models, as in the proof, and a second eigenvalue of sqrt(1 - p)",
        ),
        Form(
            variant="published@constants",
            statement=Le(zeta_bar * sqrt(1 - p) * log(1 / eps) / (4 * sqrt(eps) * p), T),
            note="(34), the last line of the proof",
        ),
        Form(
            variant="published@every-matrix",
            statement=law,
            check=tuned(partial(enough, sign=-1), INVERSES),
            note="any mixing matrix: its eigenvalue of largest modulus is negative",
        ),
        Form(
            variant="published@mean-model",
            statement=law,
            check=tuned(mean_model, INVERSES, ACCURACIES, SPREADS),
            note="accuracy of the mean model, as in Theorem 2",
        ),
        Form(
            variant="sharp",
            statement=Le(bound * (lam * zeta_bar / sqrt(eps) - 1), T),
            where=(POSITIVE,),
            assumptions=(APART,),
            note="with constants, for any accuracy and step; attained in the limit of fine accuracies",
        ),
        Form(
            variant="sharp@common-start",
            statement=Le(bound * (lam * zeta_bar * (1 - sqrt(eps)) / sqrt(eps) - 1), T),
            where=(POSITIVE,),
            assumptions=(APART,),
            check=runs,
            observation=Observation(
                quantities=observed,
                about=about,
                axis=T,
                conditions=conditions,
                record={"consensus": True},
                algorithm=GossipSGD,
            ),
            note="all clients start at the same model",
        ),
    ),
    assumptions=(SMALL, APART),
    check=any_step,
)
