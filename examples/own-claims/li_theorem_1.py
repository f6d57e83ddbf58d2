r"""FedAvg with full participation converges at the rate :math:`1/T` (Li et al., ICLR 2020, Theorem 1).

Every client takes :math:`E` steps of SGD on its own objective :math:`F_k`, then models are averaged with the weights
:math:`p_k`. With :math:`\kappa = L/\mu`, :math:`\gamma = \max\{8\kappa, E\}` and the learning rate
:math:`\eta_t = \frac{2}{\mu(\gamma + t)}`, which decays with every local step, as published

.. math:: \mathbb E[F(w_T)] - F^* \le \frac{\kappa}{\gamma + T - 1}\Bigl(\frac{2B}{\mu} + \frac{\mu\gamma}{2}\,
   \mathbb E\|w_1 - w^*\|^2\Bigr), \qquad
   B = \sum_k p_k^2\sigma_k^2 + 6L\Gamma + 8(E-1)^2G^2, \qquad \Gamma = F^* - \sum_k p_k F_k^* .

**Reading.** The bound is in terms of :math:`w_1` and :math:`T - 1`, so the start is :math:`w_1`, and :math:`w_T` is the
model after :math:`T - 1` steps. The first step has the rate :math:`2/(\mu\gamma)`: then the induction below closes. The
bound is stated for averaged models, :math:`T - 1 = \tau E` after :math:`\tau` rounds.

**Derivation of the sharp form.** Write :math:`\Delta_t` for the mean squared distance of the averaged model from
:math:`w^*` after :math:`t` steps. The paper's one-step inequality is
:math:`\Delta_{t+1} \le (1 - \eta_t\mu)\Delta_t + \eta_t^2 B`. Let :math:`v = \max\{4B/\mu^2, \gamma\Delta_0\}`. Then
:math:`\Delta_t \le v/(\gamma + t)` for :math:`t = 0`, and from :math:`t` to :math:`t + 1`

.. math:: \Delta_{t+1} \le \frac{(\gamma + t - 2)\,v}{(\gamma + t)^2} + \frac{4B/\mu^2}{(\gamma + t)^2}
   \le \frac{(\gamma + t - 1)\,v}{(\gamma + t)^2} \le \frac{v}{\gamma + t + 1} .

By smoothness :math:`\mathbb E[F(w_T)] - F^* \le \frac L2\Delta_{T-1}`: a maximum in place of the sum.

Instances: one to three clients with quadratics of different curvature, with noise, 20 rounds, exact expectations.
:math:`G^2` is the largest expected squared gradient along the run, which asks less than the paper does.

Source: Li, Huang, Yang, Wang, Zhang, On the convergence of FedAvg on non-IID data, ICLR 2020, Theorem 1, (4), (5).
"""

from typing import Any

import numpy as np
from sympy import Le, Max, Sum

import fltheory as fl
from fltheory.claims import (
    Assumption,
    Citation,
    Claim,
    Experiments,
    Facts,
    Form,
    Integer,
    Kind,
    Observation,
    Origin,
    Params,
    Real,
    Requirement,
    Space,
    scalar,
    symbols,
)

mu, L, N, E, p, sigma_sq, G_sq = (getattr(symbols, name) for name in ("mu", "L", "N", "E", "p", "sigma_sq", "G_sq"))
k, tau = symbols.k, symbols.tau
kappa = scalar("kappa", r"\kappa", "condition number")
gamma = scalar("gamma", r"\gamma", "offset of the learning rate")
T = scalar("T", "T", "number of the model, 1 for the start")
B = scalar("B", "B", "what noise, heterogeneity and local steps add per step")
Gamma = scalar("Gamma_all", r"\Gamma", "heterogeneity, F* minus the mean of the clients' minima", domain="nonnegative")
gap = scalar("gap", r"\mathbb{E}[F(w_T)] - F^*", "expected gap of the averaged model", shape=("rounds",))
start_sq = scalar("start_sq", r"\mathbb{E}\|w_1 - w^*\|^2", "squared distance of the start", domain="nonnegative")
seen_sq = scalar("seen_sq", r"\mathbb{E}\|g_t^k\|^2", "expected squared norms of gradients", shape=("rounds",))


def about(facts: Facts) -> str:
    """Return the setting in words; refuse experiments that the theorem is not about."""
    if not isinstance(facts.algorithm, fl.FedAvg):
        raise fl.NotApplicable(f"Theorem 1 is about FedAvg, got {facts.algorithm.title}")
    return f"FedAvg, {facts.num_clients} clients, {facts.local_steps} local steps"


def conditions(facts: Facts) -> tuple[Requirement, ...]:
    """Return what the theorem assumes besides relations between symbols."""
    one_outcome = len(facts.participation.outcomes(0, facts.problem.weights).probability) == 1
    complete = one_outcome and facts.participation.step_pmf(0)[:, -1].min() == 1
    return (Requirement("all clients complete all steps in every round", complete, "participation of the experiment"),)


def rate(facts: Facts) -> fl.schedules.PerStep:
    """Return the learning rate of the theorem."""
    known = facts.require("mu", "L")
    offset = max(8 * known["L"] / known["mu"], facts.local_steps)
    return fl.schedules.PerStep(scale=2 / known["mu"], shift=offset)


def quantities(facts: Facts) -> dict[Any, Any]:
    """Return the value of every symbol on an experiment that has been run."""
    known = facts.require("mu", "L", "sigma_sq", "Gamma")
    weights, clients = facts.problem.weights, facts.num_clients
    gaps = np.broadcast_to(np.asarray(known["Gamma"], dtype=float), (clients,))
    norms = facts.gradient_sq()
    return {
        mu: known["mu"],
        L: known["L"],
        N: clients,
        E: facts.local_steps,
        p: weights,
        sigma_sq: np.broadcast_to(np.asarray(known["sigma_sq"], dtype=float), (clients,)),
        Gamma: facts.keep("Gamma_all", float(weights @ gaps), Origin.COMPUTED, "weighted mean of the clients' gaps"),
        G_sq: facts.keep("G_sq", float(norms.max()), Origin.MEASURED, "largest expected squared gradient of the run"),
        seen_sq: norms,
        tau: np.arange(1, facts.rounds + 1),
        gap: facts.curve("gap", first=1),
        start_sq: facts.at_start("distance_sq"),
    }


def experiment(point: Params) -> fl.Experiment:
    """Return the run at a point of the space: quadratics, and the theorem's learning rate."""
    position = point["curvature"] - point["curvature"].min()
    hessian = 1 + (point["condition"] - 1) * position / max(position.max(), 1e-9)
    problem = fl.Quadratic(
        hessian=hessian,
        linear=-hessian * point["centre"],
        constant=0.5 * (hessian * point["centre"] ** 2).sum(axis=1),
        noise_sq=point["noise"],
        start=point["start"],
        sample_counts=point["n"],
    )
    participation = fl.Participation(num_clients=point["N"], local_steps=point["E"])
    facts = Facts(problem=problem, algorithm=fl.FedAvg(), participation=participation)
    return fl.Experiment(
        problem=problem, algorithm=fl.FedAvg(), participation=participation, rounds=20, rate=rate(facts)
    )


WHERE = (
    (kappa, L / mu),
    (gamma, Max(8 * kappa, E)),
    (T, tau * E + 1),
    (B, Sum(p[k] ** 2 * sigma_sq[k], (k, 1, N)) + 6 * L * Gamma + 8 * (E - 1) ** 2 * G_sq),
)
noise, forgotten = 2 * B / mu, mu * gamma / 2 * start_sq

claim = Claim(
    id="own.li-theorem-1",
    kind=Kind.BOUND,
    title="convergence of FedAvg with full participation",
    citation=Citation("own", "Li et al. 2020, Theorem 1"),
    forms=(
        Form(statement=Le(gap, kappa / (gamma + T - 1) * (noise + forgotten)), where=WHERE),
        Form(
            variant="sharp",
            statement=Le(gap, kappa / (gamma + T - 1) * Max(noise, forgotten)),
            where=WHERE,
            note="a maximum in place of the sum",
        ),
    ),
    assumptions=(Assumption("bounded gradients (A4)", Le(seen_sq, G_sq), Origin.MEASURED),),
    check=Experiments(
        space=Space(
            {
                "N": Integer(1, 3),
                "d": Integer(1, 2),
                "E": Integer(1, 3),
                "condition": Real(1, 100, log=True),
                "curvature": Real(0, 1, shape=("N", "d")),
                "centre": Real(-3, 3, shape=("N", "d")),
                "n": Real(0.1, 1, log=True, shape=("N",)),
                "noise": Real(0, 10, shape=("N",)),
                "start": Real(-3, 3, shape=("d",)),
            }
        ),
        experiment=experiment,
        quantities=lambda point, experiment, run: quantities(Facts.of(experiment, run)),
        record={"gradient_sq": True},
    ),
    observation=Observation(
        quantities=quantities,
        about=about,
        rate=rate,
        axis=tau,
        record={"gradient_sq": True},
        algorithm=fl.FedAvg,
        conditions=conditions,
    ),
)
