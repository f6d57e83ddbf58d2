r"""Clients with convex functions of which one of two is drawn: the instances of Proposition 5 and Lemma 8.

:math:`F_i(x, \xi)` has two outcomes, the second one with probability :math:`q`, both of them separable functions with
one kink of the derivative per coordinate and slopes up to :math:`L`; :math:`f_i` is their mean. All outcomes of all
clients are enumerated. What noise can do to a convex function it does with few outcomes: large slopes that are rarely
drawn make :math:`\|\nabla F\|^2 = 2LF` nearly an equality in expectation.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from fltheory.bounds.functions import Kinked
from fltheory.bounds.quantities import family, scalar
from fltheory.bounds.space import Integer, Parameter, Params, Real, ratio

x = family("x", "x_{<0>}", "model of a client", shape=("clients", "dim"))
x_bar = scalar("x_bar", r"\bar x", "mean of the clients' models", shape=("dim",))
x_star = scalar("x_star", r"x^\star", "minimiser of the objective", shape=("dim",))

CLIENTS: dict[str, Parameter] = {
    "n": Integer(1, 3, far=5),
    "d": Integer(1, 2, far=5),
    "L": Real(0.1, 10, log=True),
    "q": Real(0.001, 0.5, log=True),
    "x": Real(-3, 3, shape=("n", "d")),
    "near": Real(0.01, 1, log=True),
    "centre": Real(-3, 3, shape=("n", 2, "d")),
    "knot": Real(-3, 3, shape=("n", 2, "d")),
}
SADDLES: dict[str, Parameter] = {
    **CLIENTS,
    "base": Real(0.001, 1, log=True, shape=("n", "d")),
    "swing": Real(-1, 1, shape=("n", "d")),
}
CONVEX: dict[str, Parameter] = {
    **CLIENTS,
    "condition": Real(1, 1e6, log=True),
    "left": Real(0, 1, shape=("n", 2, "d")),
    "right": Real(0, 1, shape=("n", 2, "d")),
}


@dataclass(frozen=True, slots=True)
class Draws:
    """Both outcomes of all clients: ``2 n`` functions, those of client ``i`` at ``2 i`` and ``2 i + 1``."""

    functions: Any
    number: int
    chances: tuple[Any, Any]
    x_star: Any

    def objective(self, at: Any) -> Any:
        """Return the objective at a model, or at one model per outcome."""
        own = (self.chances[k % 2] * self.functions.value(k, at) for k in range(2 * self.number))
        return sum(own) / self.number

    def gradients(self, models: Any) -> tuple[Any, Any]:
        """Return the clients' stochastic gradients, ``(clients, 2, dim)``, and their means, at a model each."""
        drawn = np.stack(
            [[self.functions.gradient(2 * k + face, models[k]) for face in (0, 1)] for k in range(self.number)]
        )
        return drawn, drawn[:, 0] * self.chances[0] + drawn[:, 1] * self.chances[1]

    def variance(self, models: Any) -> Any:
        """Return the mean over clients of the variances of their gradients, at a model each."""
        drawn, mean = self.gradients(models)
        away = drawn - mean[:, None]
        squares = (away * away).sum(axis=2).sum(axis=0) / self.number
        return squares[0] * self.chances[0] + squares[1] * self.chances[1]

    def outcomes(self) -> tuple[list[Any], Any]:
        """Return the probabilities of all outcomes, and which function every client has in each."""
        faces = list(itertools.product((0, 1), repeat=self.number))
        return [np.prod([self.chances[face] for face in drawn]) for drawn in faces], np.array(faces)

    def joint(self, drawn: Any) -> Any:
        """Return the stochastic gradients of all clients in all outcomes, shape ``(outcomes, clients, dim)``."""
        return np.stack([[drawn[k, face] for k, face in enumerate(faces)] for faces in self.outcomes()[1]])


def draws(point: Params) -> Draws:
    """Return convex functions."""
    low = point["L"] / point["condition"]
    slopes = {side: _flat(low + (point["L"] - low) * point[side]) for side in ("left", "right")}
    return _made(point, slopes)


def saddles(point: Params) -> Draws:
    """Return quadratics whose outcomes need not be convex, although their means are."""
    base = point["L"] * point["base"]
    swing = (point["L"] - base) * point["swing"] * ratio(point, 1, 2)
    share = point["q"]
    slopes = _flat(np.stack([base - swing * share / (1 - share), base + swing], axis=1))
    return _made(point, {"left": slopes, "right": slopes})


def models(point: Params, made: Draws, *, equal: bool) -> Any:
    """Return the models of the clients around the minimiser; all the same one if they are ``equal``."""
    own = point["near"] * point["x"] + made.x_star
    return np.stack([own[0]] * made.number) if equal else own


def convexity(made: Draws) -> Any:
    """Return a number for which every client's objective is strongly convex."""
    least = np.minimum(made.functions.left, made.functions.right)
    own = least[0::2] * made.chances[0] + least[1::2] * made.chances[1]
    return own.min()


def _flat(values: Any) -> Any:
    return values.reshape(-1, values.shape[-1])


def _made(point: Params, slopes: dict[str, Any]) -> Draws:
    number, share = point["n"], point["q"]
    centre, knot = _flat(point["centre"]), _flat(point["knot"])
    if point.get("alike") == "yes":  # one minimiser for all outcomes: no noise there
        centre, knot = centre[:1] + 0 * centre, centre[:1] + 0 * knot
    functions = Kinked(centre=centre, knot=knot, **slopes)
    chances = (1 - share, share)
    best = functions.minimiser([chances[k % 2] * ratio(point, 1, number) for k in range(2 * number)])
    return Draws(functions, number, chances, best)
