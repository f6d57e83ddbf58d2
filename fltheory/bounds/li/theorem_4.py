r"""Theorem 4: with a fixed step size FedAvg settles at a wrong point.

As published: there is a strongly convex and smooth distributed problem on which FedAvg with full batch size,
:math:`E > 1` and any fixed, small enough step size :math:`\eta` converges to a suboptimal point :math:`\tilde w` with

.. math:: \|\tilde w - w^*\| = \Omega\bigl((E-1)\eta\bigr)\,\|w^*\| .

**The problem.** :func:`fltheory.two_curvatures`: two clients on a line,
:math:`F_1(w) = \frac L2(w-c)^2` and :math:`F_2(w) = \frac\mu2w^2`. Only existence is
claimed, so that the smallest problem will do.

**Readings.** *Small enough* may depend on :math:`E` (form ``published``: :math:`\eta \le \frac1{LE}`) or not (form
``published@any-e``: :math:`\eta \le \frac1L` fixed, :math:`E` grows). The theorem speaks of a small enough step of
FedAvg with a given :math:`E`, so the first one is meant. The second one cannot hold on any problem: for
:math:`\eta \le \frac1L` every local step contracts towards the client's own minimiser, so that
:math:`\|\tilde w - w^*\|` stays bounded while :math:`(E-1)\eta` grows.

**Derivation of the corrected form.** Let :math:`a(h) = 1 - (1-\eta h)^E`. A round maps :math:`w` to
:math:`w - \frac12a(L)(w-c) - \frac12a(\mu)w`, so that :math:`\tilde w = \frac{a(L)}{a(L)+a(\mu)}c`, and with
:math:`w^* = \frac{L}{L+\mu}c` and :math:`\rho = a(\mu)/a(L)`

.. math:: \frac{w^* - \tilde w}{w^*} = \frac{L\,a(\mu) - \mu\,a(L)}{L\,(a(L)+a(\mu))} = \frac{\rho -
   \mu/L}{1+\rho} .

With :math:`\frac{a(h)}h = \eta\sum_{j<E}(1-\eta h)^j` and the mean value theorem,

.. math:: \frac{a(\mu)}\mu - \frac{a(L)}L \ge \eta^2(L-\mu)\sum_{j<E}j\,(1-\eta L)^{j-1} \ge
   \tfrac12E(E-1)\,\eta^2(L-\mu)(1-\eta L)^{E-1} ,

and :math:`a(L)+a(\mu) \le E\eta(L+\mu)`. For :math:`\eta \le \frac1{LE}` the last factor is at least
:math:`(1-\frac1E)^{E-1} \ge \frac1e`, which gives the form ``corrected`` there. For larger :math:`\eta` up to
:math:`\frac1L`: :math:`\frac{d\ln a(h)}{d\ln\eta} = \frac{Ex(1-x)^{E-1}}{1-(1-x)^E}` with :math:`x = \eta h`, which
decreases in :math:`x`; so :math:`\rho` increases with :math:`\eta`, and the relative error is at least its value at
:math:`\frac1{LE}`.

**Derivation of the sharp form.** For :math:`\eta\to0` the relative error over :math:`(E-1)\eta` tends to
:math:`\frac{\mu(L-\mu)}{2(L+\mu)}`: the bounds above lose nothing but the factor :math:`(1-\eta L)^{E-1}`. Keeping it,
the form ``sharp`` holds for all :math:`\eta \le \frac1L`, and is an equality in the limit.

Instances: the recursion of rounds in exact arithmetic, from its limit, which is verified to be a fixed point; for the
laws up to constants, runs of FedAvg from 0 until they have settled, along sweeps of :math:`\eta` and :math:`E`.

Source: Li et al., ICLR 2020, Theorem 4.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Abs, Eq, Ge, Le, Min
from sympy import E as EULER

from fltheory.algorithms.fedavg import FedAvg
from fltheory.bounds.algebra import BigO
from fltheory.bounds.claim import Assumption, Citation, Claim, Experiments, Form, Instances, Kind, Sweep, Sweeps
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Integer, Params, Real, Space
from fltheory.bounds.symbols import E, L, mu
from fltheory.participation import Participation
from fltheory.quadratic.hard import two_curvatures
from fltheory.simulation.experiment import Experiment

eta = scalar("eta", r"\eta", "fixed step size", domain="positive")
limit = scalar("limit", r"\tilde w", "where FedAvg settles")
after = scalar("after", r"\tilde w'", "model after one more round")
best = scalar("best", "w^*", "minimiser")
error = scalar("error", r"\|\tilde w - w^*\|", "distance of the settled model from the minimiser", domain="nonnegative")
size = scalar("size", r"\|w^*\|", "norm of the minimiser", domain="positive")


def _round(w: Any, centre: Any, point: Params, eta: Any) -> Any:
    """Return the model after a round that begins at ``w``."""
    ends = []
    for curvature, own in ((point["mu"] * point["condition"], centre), (point["mu"], 0 * centre)):
        local = w
        for _ in range(point["E"]):
            local = local - eta * curvature * (local - own)
        ends.append(local)
    return (ends[0] + ends[1]) / 2


def realise(point: Params) -> dict[Any, Any]:
    """Return where the recursion settles: a round is affine, so its fixed point follows from two rounds."""
    low, high = point["mu"], point["mu"] * point["condition"]
    eta_ = point["step"] / high
    centre = point["size"] * (low + high) / high
    from_zero, from_one = _round(0 * centre, centre, point, eta_), _round(0 * centre + 1, centre, point, eta_)
    settled = from_zero / (1 - (from_one - from_zero))
    return {
        mu: low,
        L: high,
        E: point["E"],
        eta: eta_,
        limit: settled,
        after: _round(settled, centre, point, eta_),
        best: point["size"],
        error: abs(settled - point["size"]),
        size: point["size"],
    }


SPACE = Space(
    {
        "E": Integer(2, 12, far=300),
        "mu": Real(0.01, 10, log=True),
        "condition": Real(1.01, 1000, log=True, far=1e6),
        "step": Real(0.0001, 1, log=True),
        "size": Real(0.1, 10, log=True),
    }
)
RUN = Space(
    {
        "E": Integer(2, 4096),
        "mu": Real(0.1, 10),
        "L": Real(1, 100),
        "eta": Real(1e-6, 1),
        "rounds": Integer(1, 20000),
    }
)


def experiment(point: Params) -> Experiment:
    """Return FedAvg on the problem, for as many rounds as it takes to settle."""
    return Experiment(
        problem=two_curvatures(mu=point["mu"], L=point["L"]),
        algorithm=FedAvg(),
        participation=Participation(num_clients=2, local_steps=int(point["E"])),
        rounds=int(point["rounds"]),
        rate=float(point["eta"]),
    )


def settled(point: Params, _: Experiment, run: Any) -> dict[Any, Any]:
    """Return the last model of a run."""
    return {
        mu: point["mu"],
        L: point["L"],
        E: point["E"],
        eta: point["eta"],
        error: float(np.sqrt(run.curve("distance_sq")[0, -1])),
        size: 1.0,
    }


BASE = {"E": 4, "mu": 1.0, "L": 4.0, "eta": 0.01, "rounds": 4000}
STEPS = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
runs = Experiments(space=RUN, experiment=experiment, quantities=settled)
within = Sweeps(
    instances=runs,
    sweeps=(
        Sweep("eta", (0.002, 0.004, 0.008, 0.016, 0.032, 0.0625), BASE),
        Sweep("E", STEPS, {**BASE, "eta": 1 / 256}),
    ),
)
any_number = Sweeps(instances=runs, sweeps=(Sweep("E", (*STEPS, 128.0, 256.0, 512.0), {**BASE, "eta": 0.25}),))
claimed = (E - 1) * eta * size
constant = mu * (L - mu) / (2 * (L + mu))
fixed = (
    Assumption("the settled model is a fixed point", Eq(after, limit)),
    Assumption("distance", Eq(error, Abs(limit - best))),
    Assumption("small enough step size", Le(eta, 1 / L)),
    Assumption("more than one local step", Ge(E, 2)),
)

claim = Claim(
    id="li.theorem-4",
    kind=Kind.LOWER,
    title="FedAvg with a fixed step size settles at a wrong point",
    citation=Citation("li", "Theorem 4"),
    forms=(
        Form(
            statement=Le(claimed, BigO(error)),
            assumptions=(Assumption("small enough step size", Le(eta, 1 / (L * E))),),
            check=within,
            intended=("published@any-e",),
            note="the step size may depend on E: at most 1 / (L E)",
        ),
        Form(
            variant="published@any-e",
            statement=Le(claimed, BigO(error)),
            assumptions=(Assumption("small enough step size", Le(eta, 1 / L)),),
            check=any_number,
            note="one step size for all E",
        ),
        Form(
            variant="corrected",
            statement=Le(constant / EULER * (E - 1) * Min(eta, 1 / (L * E)) * size, error),
            note="with a constant, for all eta up to 1 / L",
        ),
        Form(
            variant="corrected@any-e",
            statement=Le((E - 1) * Min(eta, 1 / (L * E)) * size, BigO(error)),
            assumptions=(Assumption("small enough step size", Le(eta, 1 / L)),),
            check=any_number,
            note="no more than a local run to its end can do wrong",
        ),
        Form(
            variant="sharp",
            statement=Le(constant * (1 - eta * L) ** (E - 1) * claimed, error),
            note="an equality for vanishing eta",
        ),
    ),
    assumptions=fixed,
    check=Instances(space=SPACE, realise=realise),
)
