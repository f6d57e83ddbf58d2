r"""Flexible participation on a user's own experiment: laws of rounds, constants, and the prescribed learning rate.

The analyses speak of coefficients :math:`p_\tau^k` and completed steps :math:`s_\tau^k`. On an experiment these are
what its algorithm does with what its participation draws: the weights of a scheme for flexible participation, the
weights of the sampling design times the server rate for FedAvg. All outcomes of a round are enumerated; a law with
too many of them is refused.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.algorithms.efl import EFL
from fltheory.algorithms.fedavg import FedAvg
from fltheory.algorithms.ruan import Ruan
from fltheory.bounds.algebra import compiled
from fltheory.bounds.flexible_participation.experiments import gradient_sq
from fltheory.bounds.flexible_participation.run_laws import laws_of
from fltheory.bounds.flexible_participation.symbols import (
    distance,
    distance_start,
    mean_ps,
    p_drawn,
    s_drawn,
    theta,
)
from fltheory.bounds.observation import Facts, Observation, Requirement
from fltheory.bounds.quantities import CHANCE
from fltheory.bounds.symbols import E, G_sq, Gamma, L, N, mu, p, sigma_sq, tau
from fltheory.errors import NotApplicable
from fltheory.participation import Scheme, scheme_weights
from fltheory.problems.problem import Origin
from fltheory.simulation.schedules import Inverse, Rate, Table

SAME = 1e-9
"""Ratios that differ by less than this, relative to the largest, count as equal."""


@dataclass(frozen=True, slots=True)
class RoundLaw:
    """The law of one round.

    Parameters
    ----------
    chance
        Probabilities of the outcomes.
    coefficients, steps
        Of every client in every outcome, ``(outcomes, clients)``.
    p
        Objective weights.
    """

    chance: Floats
    coefficients: Floats
    steps: Floats
    p: Floats

    @property
    def mean_ps_of(self) -> Floats:
        """Expected coefficient times steps of every client."""
        return np.asarray(self.chance @ (self.coefficients * self.steps))

    @property
    def mean_ps(self) -> float:
        """Their sum."""
        return float(self.mean_ps_of.sum())

    @property
    def theta(self) -> float:
        """Largest ratio of coefficient and objective weight."""
        return float((self.coefficients / self.p).max())

    @property
    def z(self) -> int:
        """Whether participation is heterogeneous: expected coefficient times steps is no multiple of the weights."""
        ratios = self.mean_ps_of / self.p
        return int(ratios.max() - ratios.min() > SAME * ratios.max())


def law(facts: Facts, index: int) -> RoundLaw:
    """Return the law of a round of an experiment."""
    weights = facts.problem.weights
    chance, steps, sampled = facts.participation.outcomes(index, weights)
    algorithm = facts.algorithm
    if isinstance(algorithm, FedAvg):
        coefficients = algorithm.server_rate * sampled
    else:
        scheme = Scheme(algorithm.scheme) if isinstance(algorithm, Ruan) else Scheme.C
        coefficients = scheme_weights(scheme, weights, steps, facts.local_steps)
    found = RoundLaw(chance, np.asarray(coefficients, dtype=float), steps.astype(float), weights)
    if found.mean_ps <= 0:
        raise NotApplicable(f"no client ever completes a step in round {index}, so that nothing is aggregated")
    return found


def laws(facts: Facts) -> tuple[list[RoundLaw], list[int]]:
    """Return the different laws of an experiment, and the number of the law that is in force in every round."""
    known: dict[bytes, int] = {}
    found: list[RoundLaw] = []
    which: list[int] = []
    for index in range(facts.rounds):
        key = facts.participation.law_key(index)
        if key not in known:
            known[key] = len(found)
            found.append(law(facts, index))
        which.append(known[key])
    return found, which


def about(facts: Facts) -> str:
    """Return which setting it is; raise for algorithms that the analysis is not about."""
    algorithm = facts.algorithm
    plain = isinstance(algorithm, EFL) and algorithm.elasticity == 0 and algorithm.compression is None
    if not (isinstance(algorithm, Ruan | FedAvg) or plain):
        raise NotApplicable(
            f"the statement is about flexible participation (schemes A, B, C), FedAvg, and EFL without compression and "
            f"elastic term; got {algorithm.title}"
        )
    if facts.participation.timeline.events:
        raise NotApplicable(
            "the statement is about a fixed set of clients, the experiment has arrivals or departures; "
            "see ruan.corollary-3.2.1"
        )
    name = f"scheme {algorithm.scheme}" if isinstance(algorithm, Ruan) else algorithm.title
    return f"{name}, {facts.num_clients} clients, {facts.local_steps} local steps"


def about_efl(facts: Facts) -> str:
    """Return which setting it is; raise for algorithms other than EFL."""
    if not isinstance(facts.algorithm, EFL):
        raise NotApplicable(f"the statement is about EFL, got {facts.algorithm.title}")
    if facts.participation.timeline.events:
        raise NotApplicable("the statement is about a fixed set of clients, the experiment has arrivals or departures")
    compression, elasticity = facts.algorithm.compression, facts.algorithm.elasticity
    return f"EFL, compression {compression}, elasticity {elasticity:g}, {facts.num_clients} clients"


def stationary(facts: Facts) -> str:
    """Return which setting it is; raise also where the law of participation changes over time."""
    words = about(facts)
    if not facts.participation.is_stationary:
        raise NotApplicable("the statement is about one law for all rounds, the experiment has several; see ruan.eq-66")
    return words


def independent_noise(facts: Facts) -> Sequence[Requirement]:
    """Return what the proofs assume about randomness besides what they list."""
    found = [
        Requirement("participation independent over rounds and of the noise", True, "by construction of the engines")
    ]
    for name, words in (
        ("round_drift_sq", "no drift that is shared by all steps of a round"),
        ("fresh_drift_sq", "the same clients in all rounds"),
    ):
        known = facts.problem.constants().get(name)
        if known is not None:
            value = float(np.max(known.value))
            found.append(Requirement(words, value == 0.0, f"{name} = {value:g}", known.origin))
    return found


def independence(facts: Facts) -> float:
    """Return that rounds do not depend on each other, since participation is drawn for every round anew."""
    words = "participation is drawn for every round anew"
    return float(facts.keep("dependence", 0.0, Origin.DECLARED, words))


def constants(facts: Facts) -> dict[Any, Any]:
    """Return the constants of the clients' objectives, by symbol."""
    known = facts.require("mu", "L", "sigma_sq", "Gamma")
    clients = (facts.num_clients,)
    return {
        N: facts.num_clients,
        E: facts.local_steps,
        mu: known["mu"],
        L: known["L"],
        sigma_sq: np.broadcast_to(np.asarray(known["sigma_sq"], dtype=float), clients),
        Gamma: np.broadcast_to(np.asarray(known["Gamma"], dtype=float), clients),
        p: facts.problem.weights,
    }


def drawn(one: RoundLaw) -> dict[Any, Any]:
    """Return the outcomes of a round, by symbol."""
    return {p_drawn: list(one.coefficients), s_drawn: list(one.steps), CHANCE: one.chance, mean_ps: one.mean_ps}


def setting(facts: Facts) -> dict[Any, Any]:
    """Return all that the learning rate depends on, for one law in all rounds."""
    one = law(facts, 0)
    ratio = facts.keep("theta", one.theta, Origin.COMPUTED, "largest ratio of coefficient and weight")
    facts.keep("mean_ps", one.mean_ps, Origin.COMPUTED, "expected sum of coefficients times completed steps")
    return {**constants(facts), **drawn(one), theta: ratio}


def gradient_bound(facts: Facts) -> dict[Any, Any]:
    """Return the bound on gradients, the smallest that holds along the run unless the user declares one."""
    if "G_sq" in facts.given and facts.run.gradient_sq is None:
        seen = np.asarray([facts.given["G_sq"]], dtype=float)
    else:
        seen = facts.gradient_sq()
    in_ball = facts.gradient_bound()
    if in_ball is None:
        value, origin, note = float(seen.max()), Origin.MEASURED, "largest expected squared gradient along the run"
    else:
        value, origin, note = in_ball, Origin.COMPUTED, "for all models in the ball"
    return {G_sq: facts.keep("G_sq", value, origin, note), gradient_sq: seen}


def along(facts: Facts) -> dict[Any, Any]:
    """Return the curves of the run, from round 1 on."""
    rounds = facts.rounds
    return {
        tau: np.arange(1, rounds + 1),
        distance: facts.curve("distance_sq", first=1),
        distance_start: facts.at_start("distance_sq"),
        **gradient_bound(facts),
    }


def named(env: Mapping[Any, Any]) -> dict[str, Any]:
    """Return an environment by name."""
    return {str(getattr(key, "name", None) or key.label.name): value for key, value in env.items()}


def staircase(offset: Any) -> Callable[[Facts], Rate]:
    """Return the learning rate of Theorem 3.1 as a function of the facts; ``offset`` is its gamma."""

    def rate(facts: Facts) -> Rate:
        env = named(setting(facts))
        shift = float(compiled(offset)(env))
        return Inverse(scale=16 / (env["mu"] * env["mean_ps"]), shift=shift / env["E"])

    return rate


def main_bound(offset: Any) -> Observation:
    """Return how Theorem 3.1 is read on an experiment; ``offset`` is its gamma."""

    def quantities(facts: Facts) -> Mapping[Any, Any]:
        env = setting(facts) | along(facts)
        heterogeneous = facts.keep("z_tau", law(facts, 0).z, Origin.COMPUTED, "1 if participation is heterogeneous")
        counted = {"z_tau": heterogeneous, "M_tau": heterogeneous * env[tau]}
        return {**named(env), **counted, "dependence": independence(facts)}

    return Observation(
        quantities=quantities,
        about=stationary,
        rate=staircase(offset),
        axis=tau,
        record={"gradient_sq": True},
        algorithm=Ruan,
        conditions=independent_noise,
    )


def table_row(offset: Any, scheme: str, *, heterogeneous: bool) -> Observation:
    """Return how a rate for one scheme is read on an experiment; ``offset`` is the gamma of Theorem 3.1."""
    whole = main_bound(offset)

    def conditions(facts: Facts) -> Sequence[Requirement]:
        own = facts.algorithm.scheme if isinstance(facts.algorithm, Ruan) else facts.algorithm.title
        mixed = bool(law(facts, 0).z)
        kind = "heterogeneous" if heterogeneous else "homogeneous"
        return (
            *whole.conditions(facts),
            Requirement(f"scheme {scheme}", own == scheme, str(own)),
            Requirement(f"{kind} participation", mixed == heterogeneous, f"z = {int(mixed)}"),
        )

    return dataclasses.replace(whole, conditions=conditions, algorithm=lambda: Ruan(scheme=scheme))


def inverse_weights(facts: Facts) -> Requirement:
    """Return whether coefficients are those of EFL and of scheme C, E p / s."""
    algorithm = facts.algorithm
    met = isinstance(algorithm, EFL) or (isinstance(algorithm, Ruan) and algorithm.scheme == "C")
    own = f"scheme {algorithm.scheme}" if isinstance(algorithm, Ruan) else algorithm.title
    return Requirement("coefficients E p / s, those of EFL and of scheme C", met, own)


def changing(facts: Facts) -> dict[str, Any]:
    """Return the constants and the laws of all rounds, for participation that may change; the last law goes on."""
    found, which = laws(facts)
    rounds = [found[number] for number in (*which, which[-1])]
    theta_max = facts.keep("theta", max(one.theta for one in found), Origin.COMPUTED, "largest ratio of all rounds")
    least = facts.keep(
        "mean_ps_min", min(one.mean_ps for one in found), Origin.COMPUTED, "smallest expected sum of all rounds"
    )
    mixed = np.array([one.z for one in rounds[:-1]])
    worst = max(found, key=lambda one: one.theta)
    return {
        **named(constants(facts)),
        **named(drawn(worst)),
        "mean_ps": least,
        **laws_of([named(drawn(one)) for one in rounds]),
        "theta": theta_max,
        "ratio": np.array([one.theta for one in found]),
        "mean_ps_at": np.array([one.mean_ps for one in rounds]),
        "mean_ps_min": least,
        "M_at": np.cumsum([0, *mixed]),
        "H_tau": np.cumsum(mixed),
        "T": facts.rounds,
        "last": facts.rounds,
        "planned": facts.rounds,
        "dependence": independence(facts),
    }


def changing_rate(offset: Any, *, smallest: bool = False) -> Callable[[Facts], Rate]:
    """Return the learning rate of the bounds for changing participation; ``offset`` is their gamma.

    Each round has its own expected sum in the denominator, or all of them the ``smallest`` one.
    """

    def rate(facts: Facts) -> Rate:
        env = changing(facts)
        shift, steps, rounds = float(compiled(offset)(env)), env["E"], facts.rounds
        sums = np.full(rounds, env["mean_ps_min"]) if smallest else env["mean_ps_at"][:rounds]
        times = np.arange(rounds) + (0 if smallest else 1)
        return Table(values=16 * steps / (env["mu"] * sums * (times * steps + shift)))

    return rate


def changing_bound(offset: Any, *, smallest: bool = False, setting_of: Callable[[Facts], str] = about) -> Observation:
    """Return how a bound for changing participation is read on an experiment; ``offset`` is its gamma."""

    def quantities(facts: Facts) -> Mapping[str, Any]:
        run = named(along(facts))
        return changing(facts) | run | {"distance_sq_at": facts.curve("distance_sq")}

    return Observation(
        quantities=quantities,
        about=setting_of,
        rate=changing_rate(offset, smallest=smallest),
        axis=tau,
        record={"gradient_sq": True},
        conditions=independent_noise,
    )
