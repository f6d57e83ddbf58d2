r"""What the lemmas behind Theorems 1 to 3 share: symbols, and instances in exact arithmetic.

Lemmas 1 and 2 are about one step, Lemmas 3 to 5 about the steps since models were last averaged. Stochastic gradients
of those are any vectors of two equally likely outcomes: nothing is used but that their second moments are bounded.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from sympy import Le

from fltheory.bounds.algebra import EE, NormSq
from fltheory.bounds.claim import Assumption
from fltheory.bounds.functions import Kinked
from fltheory.bounds.quantities import family, index, scalar
from fltheory.bounds.space import Integer, Parameter, Params, Real, ratio
from fltheory.bounds.symbols import G_sq, N, k
from fltheory.problems.problem import Origin

rate = scalar("eta", r"\eta_t", "learning rate of the step", domain="positive")
growth = scalar("growth", r"\rho", "how much larger rates since the last averaging may be", domain="positive")
Gamma = scalar("Gamma_all", r"\Gamma", "heterogeneity, F* minus the mean of the clients' minima", domain="nonnegative")
w_bar = scalar("w_bar", r"\bar w_t", "mean of the local models", random=True, shape=("dim",))
local = family("local", "w_t^{<0>}", "model of a client", random=True, shape=("clients", "dim"))
v_bar = scalar("v_bar", r"\bar v_{t+1}", "mean of the local models after the step", random=True, shape=("dim",))
drawn = scalar("drawn", "g_t", "weighted mean of the stochastic gradients", random=True, shape=("dim",))
expected = scalar("expected", r"\bar g_t", "weighted mean of the gradients", shape=("dim",))
noise = family(
    "noise",
    r"(\nabla F_{<0>}(w_t^{<0>}, \xi_t^{<0>}) - \nabla F_{<0>}(w_t^{<0>}))",
    "noise of a client's gradient",
    random=True,
    shape=("clients", "dim"),
)
i = index("i", "i", "a step since the last averaging, from 1")
rates = family("rates", r"\eta_{t_0 - 1 + <0>}", "rates since the last averaging", shape=("steps",), domain="positive")
grads = family(
    "grads",
    r"\nabla F_{<0>}(w_{t_0 - 1 + <1>}^{<0>}, \xi)",
    "stochastic gradients since the last averaging",
    first=(1, 1),
    random=True,
    shape=("clients", "steps", "dim"),
)
since = scalar("since", "(t - t_0)", "steps since the last averaging", domain="integer>=0")

each = ((k, 1, N),)
BOUNDED = Assumption(
    "bounded gradients (A4)", Le(EE(NormSq(grads[k, i])), G_sq), Origin.DECLARED, ((k, 1, N), (i, 1, since))
)

WEIGHTS: dict[str, Parameter] = {"N": Integer(1, 3), "d": Integer(1, 2), "n": Real(0.1, 1, shape=("N",))}


def weights(point: Params) -> Any:
    """Return the weights of the clients."""
    return point["n"] / point["n"].sum()


def step(point: Params) -> dict[Any, Any]:
    """Return one step from any local models, with noise of two outcomes in the mean gradient."""
    clients, high = point["N"], point["L"]
    low = high / point["condition"]
    slopes = {side: low + (high - low) * point[side] for side in ("left", "right")}
    functions = Kinked(centre=point["centre"], knot=point["knot"], **slopes)
    share = weights(point)
    best, models = functions.minimiser(share), point["x"]
    mean = (share[:, None] * models).sum(axis=0)
    slope = sum(share[one] * functions.gradient(one, models[one]) for one in range(clients))
    eta = point["step"] / (4 * high)
    faces = [slope + sign * point["noise"] for sign in (1, -1)]
    return {
        N: clients,
        "mu": low,
        "L": high,
        rate: eta,
        "p": share,
        "w_star": best,
        Gamma: sum(
            share[one] * (functions.value(one, best) - functions.value(one, point["centre"][one]))
            for one in range(clients)
        ),
        w_bar: [mean, mean],
        local: [models, models],
        drawn: faces,
        expected: slope,
        v_bar: [mean - eta * face for face in faces],
        "chance": [ratio(point, 1, 2)] * 2,
    }


def noises(point: Params) -> dict[Any, Any]:
    """Return gradients with noise, a coin and a vector for every client."""
    clients, share = point["N"], weights(point)
    # A sign pattern is followed by its opposite, so that means vanish without rounding.
    half = [(1, *rest) for rest in itertools.product((1, -1), repeat=clients - 1)]
    faces = [face for one in half for face in (one, tuple(-sign for sign in one))]
    each_noise = [np.array(face)[:, None] * point["noise"] for face in faces]
    return {
        N: clients,
        "p": share,
        "sigma_sq": (point["noise"] * point["noise"]).sum(axis=1),
        noise: each_noise,
        "chance": [ratio(point, 1, len(faces))] * len(faces),
    }


WALK: dict[str, Parameter] = {
    **WEIGHTS,
    "s": Integer(1, 3),
    "x": Real(-3, 3, shape=("d",)),
    "gradient": Real(-3, 3, shape=("N", "s", 2, "d")),
    "eta": Real(0.01, 1, log=True),
    "growth": Real(1, 4),
    "above": Real(0, 1, shape=("s",)),
}


ANY: dict[str, Parameter] = {**WALK, "G": Real(0.1, 10, log=True)}
"""The same with a bound on the gradients that only the assumptions are about, for certificates."""


def walked(point: Params, *, growth_of: Any) -> dict[Any, Any]:
    """Return local models after steps from one model, whose rates are at most ``growth_of`` times the last one."""
    eta, half, gradients = point["eta"], ratio(point, 1, 2), point["gradient"]
    sizes = eta * (1 + (growth_of - 1) * point["above"])
    moved = (sizes[None, :, None, None] * gradients).sum(axis=1)
    squares = (gradients * gradients).sum(axis=3).sum(axis=2) * half
    return {
        N: point["N"],
        rate: eta,
        growth: growth_of,
        since: point["s"],
        "p": weights(point),
        "rates": sizes,
        "G_sq": point["G"] ** 2 if "G" in point else max(squares.reshape(-1)),
        grads: [gradients[:, :, face] for face in (0, 1)],
        local: [point["x"] - moved[:, face] for face in (0, 1)],
        "chance": [half] * 2,
    }
