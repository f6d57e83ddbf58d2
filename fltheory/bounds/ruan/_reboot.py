r"""A client arrives: the model at that moment, both minimisers, and runs with and without fast reboot."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from fltheory.algorithms.ruan import Ruan
from fltheory.bounds.algebra import Env
from fltheory.bounds.claim import Experiments, Instances, Rejected
from fltheory.bounds.functions import Functions, Kinked, Turned, one_based
from fltheory.bounds.objective_shift.clients import kinked, without_last
from fltheory.bounds.space import Choice, ExactPoint, Integer, Parameter, Params, Real, Space
from fltheory.participation import Arrival, Participation, Timeline
from fltheory.quadratic.problem import Quadratic
from fltheory.simulation.experiment import Experiment
from fltheory.simulation.trajectories import Trajectories

PARAMETERS: Mapping[str, Parameter] = {
    "N": Integer(2, 3),
    "d": Integer(2, 2),
    "shape": Choice(("kinked", "turned")),
    "mu": Real(0.01, 10, log=True),
    "condition": Real(1, 1000, log=True, far=1e6),
    "n": Real(0.01, 100, log=True, shape=("N",), whole=True),
    "centre": Real(-1, 1, shape=("N", "d")),
    "knot": Real(-1, 1, shape=("N", "d")),
    "left": Real(0, 1, shape=("N", "d")),
    "right": Real(0, 1, shape=("N", "d")),
    "flat": Real(0.001, 1, log=True),
    "turn": Real(-1, 1, shape=("N",)),
    "reach": Real(-1.5, 1.5, shape=(2,)),
}


def functions_of(point: Params) -> tuple[Functions, Any]:
    """Return the clients' functions, and a bound on the curvature of each."""
    # Clients that were there before may all be flatter than the one that arrives.
    scale: Any = np.array([[point["flat"]]] * (point["N"] - 1) + [[1]])
    point = {**point, "left": scale * point["left"], "right": scale * point["right"]}
    if point["shape"] == "kinked":
        found = kinked(point)
        return found, np.maximum(found.left, found.right).max(axis=1)
    low, high = point["mu"], point["mu"] * point["condition"]
    eigenvalues = low + (high - low) * point["left"]
    return Turned(centre=point["centre"], eigenvalues=eigenvalues, turn=point["turn"]), eigenvalues.max(axis=1)


def realise(point: Params) -> dict[str, Any]:
    """Return both minimisers, a model near the old one, and the bounds."""
    functions, curvature = functions_of(point)
    counts, ranks = point["n"], range(point["N"])
    new, old = counts / counts.sum(), without_last(counts) / without_last(counts).sum()
    before, after = functions.minimiser(old), functions.minimiser(new)
    move, (along, across) = after - before, point["reach"]
    if _size(move) <= (0 if isinstance(point, ExactPoint) else 1e-12):
        raise Rejected("the minimiser does not move")
    model = before + along * move + across * np.array([-move[1], move[0]])

    def value(w: Any) -> Any:
        return sum(new[k] * functions.value(k, w) for k in ranks)

    def gradient(weights: Any, w: Any) -> Any:
        return sum(weights[k] * functions.gradient(k, w) for k in ranks)

    # Gradients are largest at the corners: monotone in every coordinate, or linear. Sums of moduli bound norms.
    held = [model, before, after, *point["centre"]]
    corners = itertools.product(*(((min(x), max(x))) for x in zip(*held, strict=True)))
    steepest = max(_size(gradient(old, np.array(corner))) for corner in corners)
    own, own_before = functions.gradient(-1, model), functions.gradient(-1, before)
    along_segment = np.maximum(np.maximum(own, -own), np.maximum(own_before, -own_before)).sum()
    return {
        **one_based(functions),
        "N": point["N"],
        "p": new,
        "F_star": 0 * new,
        "mu": point["mu"],
        "L": point["mu"] * point["condition"],
        "w_star": before,
        "w_new": after,
        "w_now": model,
        "share": new[-1],
        "F_at_old": value(before),
        "F_at_new": value(after),
        "grad_at_old": gradient(new, before),
        "u": own * (_size(model - after) / _size(own)) if _size(own) > 0 else own,
        "Gamma_l": functions.value(-1, before),
        "W": max(steepest, (old * curvature).sum()),
        "W_l": max(along_segment, curvature[-1]),
        "grad_new_now": gradient(new, model),
        "grad_l_now": own,
    }


def _size(v: Any) -> Any:
    return np.maximum(v, -v).sum()


def quadratic(point: Params) -> Params:
    """Return the point with functions that have no kink."""
    return {**point, "shape": "kinked", "right": point["left"], "knot": point["centre"]}


def experiment(point: Params) -> tuple[Experiment, ...]:
    """Return the runs in which the last client arrives after one round, with fast reboot and without."""
    point, count = quadratic(point), point["N"]
    functions, _ = functions_of(point)
    assert isinstance(functions, Kinked)
    hessian, rate = functions.left, point["rate"] / (point["mu"] * point["condition"])
    old, known = without_last(point["n"]) / without_last(point["n"]).sum(), realise(point)
    contraction = 1 - rate * old @ hessian
    problem = Quadratic(
        hessian=hessian,
        linear=-hessian * functions.centre,
        constant=0.5 * (hessian * functions.centre**2).sum(axis=1),
        sample_counts=point["n"],
        noise_sq=np.zeros(count),
        start=known["w_star"] + (known["w_now"] - known["w_star"]) / contraction,
    )
    arrivals = [Arrival(client=count - 1, round=1, fast_reboot=fast) for fast in (True, False)]
    return tuple(
        Experiment(
            problem=problem,
            algorithm=Ruan(scheme="C"),
            participation=Participation(num_clients=count, local_steps=1, timeline=Timeline(arrivals=(arrival,))),
            rounds=2,
            rate=rate,
        )
        for arrival in arrivals
    )


def quantities(point: Params, made: tuple[Experiment, ...], runs: tuple[Trajectories, ...]) -> Env:
    """Return the quantities, with the distances that the runs have reached."""
    fast, plain = runs
    apart = fast.curve("model_mean")[0, -1] - plain.curve("model_mean")[0, -1]
    found = realise(quadratic(point)) | {
        "w_now": plain.curve("model_mean")[0, 1],
        "after_fast_sq": fast.curve("distance_sq")[0, -1],
        "after_plain_sq": plain.curve("distance_sq")[0, -1],
        "moved": float(np.sqrt((apart**2).sum())),
        "eta": made[0].rate_at(1),
    }
    if found["moved"] ** 2 < 1e-18 * (found["w_now"] ** 2).sum():
        raise Rejected("the runs differ by rounding only")
    return found


def on_the_fly(largest: float) -> Experiments:
    """Return arrivals with learning rates up to a multiple of 1/L."""
    space = {
        **{name: PARAMETERS[name] for name in ("N", "d", "centre", "left")},
        "mu": Real(1, 1000, log=True),
        "condition": Real(10, 1000, log=True, far=1e6),
        "n": Real(0.001, 1000, log=True, shape=("N",), whole=True),
        "flat": Real(0.001, 0.1, log=True),
        "reach": Real(0, 1.5, shape=(2,)),
        "rate": Real(1e-4, largest, log=True),
    }
    return Experiments(space=Space(space), experiment=experiment, quantities=quantities, moments=True, effort=3)


AT_ARRIVAL = Instances(space=Space(PARAMETERS), realise=realise)
"""Models around the old minimiser when a client arrives."""
