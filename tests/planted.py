"""Statements whose truth is known: true and tight, or false by one percent, one pair per kind."""

import numpy as np
import sympy as sp
from sympy import Eq, Le, Sum

from fltheory import Experiment, Participation
from fltheory.algorithms.fedavg import FedAvg
from fltheory.bounds.algebra import EE, BigO, NormSq
from fltheory.bounds.claim import Citation, Claim, Experiments, Form, Instances, Kind, Sweep, Sweeps
from fltheory.bounds.functions import Kinked, one_based
from fltheory.bounds.quantities import family, scalar
from fltheory.bounds.space import Integer, Real, Space, ratio
from fltheory.bounds.symbols import E, F, L, N, eta, grad_F, k, mu, tau
from fltheory.quadratic.problem import Quadratic

x = family("planted_x", "x_{<0>}", "vectors")
y = family("planted_y", "y_{<0>}", "random vectors", random=True)
v = scalar("planted_v", "v", "a vector")
a, b = scalar("planted_a", "a", "a number"), scalar("planted_b", "b", "another number")
distance = scalar("planted_distance", r"\mathbb{E}\|w_\tau-w^*\|^2", "expected squared distance")
start = scalar("planted_start", r"\|w_0-w^*\|^2", "squared distance at the start")
error = scalar("planted_error", "X", "what a rate is about")


def claim(name, kind, statement, check, **more):
    return Claim(
        id=f"planted.{name}",
        kind=kind,
        title=name,
        citation=Citation("planted", name),
        forms=(Form(statement=statement, **more),),
        check=check,
    )


def jensen(factor=1):
    """The squared norm of a mean is at most the mean of squared norms; equality if all vectors agree."""
    space = Space({"N": Integer(1, 3), "d": Integer(1, 2), "x": Real(-3, 3, shape=("N", "d"))})
    return claim(
        "jensen",
        Kind.LEMMA,
        Le(NormSq(Sum(x[k], (k, 1, N)) / N), factor * Sum(NormSq(x[k]), (k, 1, N)) / N),
        Instances(space=space, realise=lambda point: {"N": point["N"], "planted_x": point["x"]}),
    )


def variance(factor=1):
    """The variance of a fair coin with values +-c is c^2, whatever c."""

    def realise(point):
        return {"planted_y": [[point["c"]], [-point["c"]]], "chance": [ratio(point, 1, 2)] * 2, "planted_a": point["c"]}

    space = Space({"d": Integer(1, 2), "c": Real(-3, 3, shape=("d",))})
    return claim(
        "variance",
        Kind.LEMMA,
        Le(EE(NormSq(y[1])), factor * NormSq(a)),
        Instances(space=space, realise=realise),
    )


def smoothness(factor=1):
    """The squared gradient is at most 2 L times the gap; equality where the curvature is L all the way."""

    def realise(point):
        low, high = point["mu"], point["mu"] * point["condition"]
        slopes = {side: low + (high - low) * point[side] for side in ("left", "right")}
        functions = Kinked(centre=point["centre"], knot=point["knot"], **slopes)
        return {"L": high, "planted_v": point["w"], **one_based(functions)}

    space = Space(
        {
            "d": Integer(1, 2),
            "mu": Real(0.1, 2, log=True),
            "condition": Real(1, 50, log=True),
            "w": Real(-3, 3, shape=("d",)),
            **{name: Real(-3, 3, shape=(1, "d")) for name in ("centre", "knot")},
            **{name: Real(0, 1, shape=(1, "d")) for name in ("left", "right")},
        }
    )
    return claim(
        "smoothness",
        Kind.LEMMA,
        Le(NormSq(grad_F(1, v)), factor * 2 * L * F(1, v)),
        Instances(space=space, realise=realise),
    )


def binomial(factor=1):
    """A square expands; an identity that SymPy proves."""
    space = Space({"a": Real(-3, 3), "b": Real(-3, 3)})
    return claim(
        "binomial",
        Kind.IDENTITY,
        Eq((a + b) ** 2, a**2 + 2 * factor * a * b + b**2, evaluate=False),
        Instances(space=space, realise=lambda point: {"planted_a": point["a"], "planted_b": point["b"]}),
    )


def sum_of_squares(factor=1):
    """A sum of squares written twice; an identity over indices, which has to be evaluated."""
    space = Space({"N": Integer(1, 4), "x": Real(-3, 3, shape=("N",))})
    return claim(
        "sum-of-squares",
        Kind.IDENTITY,
        Eq(Sum(x[k] ** 2, (k, 1, N)), factor * Sum(x[k] * x[k], (k, 1, N)), evaluate=False),
        Instances(space=space, realise=lambda point: {"N": point["N"], "planted_x": point["x"]}),
    )


def _descent(point):
    curvature = np.array([[point["mu"], point["mu"] * point["condition"]]])
    problem = Quadratic(
        hessian=curvature,
        linear=np.zeros((1, 2)),
        constant=np.zeros(1),
        sample_counts=np.ones(1),
        noise_sq=np.array([point.get("noise_sq", 0.0)]),
        start=np.array([1.0, point["off"]]),
    )
    steps = Participation(num_clients=1, local_steps=2)
    rate = point["step"] / curvature.max()
    return Experiment(problem=problem, algorithm=FedAvg(), participation=steps, rounds=5, rate=rate)


def contraction(factor=1):
    """Gradient descent contracts by 1 - eta mu per step; equality from a start in the flattest direction."""

    def quantities(point, experiment, run):
        return {
            "planted_distance": run.distance_sq[0],
            "planted_start": run.distance_sq[0, 0],
            "mu": point["mu"],
            "eta": experiment.rate_at(0),
            "E": 2,
            "tau": np.arange(6),
        }

    space = Space(
        {
            "mu": Real(0.1, 2, log=True),
            "condition": Real(1, 20, log=True),
            "off": Real(0, 2),
            "step": Real(0.05, 1),
        }
    )
    return claim(
        "contraction",
        Kind.BOUND,
        Le(distance, factor * start * (1 - eta * mu) ** (2 * E * tau)),
        Experiments(space=space, experiment=_descent, quantities=quantities),
    )


def sampled(factor=1, replicates=100):
    """The expected distance of noisy descent is its expected distance: sampled against the closed form."""

    def quantities(point, experiment, run):
        rate, curvature = experiment.rate_at(0), experiment.problem.hessian[0]
        shrink = (1 - rate * curvature) ** 2
        mean, spread, expected = experiment.start**2, np.zeros(2), []
        for _ in range(6):
            expected.append(float((mean + spread).sum()))
            for _ in range(2):
                mean, spread = shrink * mean, shrink * spread + rate**2 * point["noise_sq"] / 2
        return {"planted_distance": run.band("distance_sq", level=1 - 1e-6), "planted_start": np.array(expected)}

    space = Space(
        {
            "mu": Real(0.5, 2),
            "condition": Real(1, 5),
            "off": Real(0, 2),
            "step": Real(0.1, 0.9),
            "noise_sq": Real(0.01, 0.1),
        }
    )
    check = Experiments(
        space=space, experiment=_descent, quantities=quantities, engine="monte_carlo", replicates=replicates
    )
    return claim("sampled", Kind.BOUND, Le(distance, factor * start), check)


def power_law(exponent=-1):
    """What decays like 1/T with a lower-order term is O(T^-1)."""

    def realise(point):
        return {"planted_error": 3.0 / point["T"] * (1 + 1 / point["T"]) * point["N"], "tau": point["T"]}

    base = {"N": 5.0}
    check = Sweeps(
        instances=Instances(space=Space({"T": Real(1, 1e7), "N": Real(1, 100)}), realise=realise, rational=False),
        sweeps=(Sweep("T", (10, 40, 160, 640, 2560, 10240), base),),
    )
    return claim("power-law", Kind.RATE, Le(error, BigO(tau ** sp.Rational(str(exponent)))), check)


def missing_factor():
    """A rate that does not mention the number of clients, on which it depends."""
    law = power_law()
    check = Sweeps(instances=law.check.instances, sweeps=(Sweep("N", (1, 2, 4, 8, 16, 32), {"T": 100.0}),))
    return claim("missing-factor", Kind.RATE, law.forms[0].relations[0], check)


def descends(factor=1):
    """A gradient step with eta <= 2 / L does not raise a quadratic's value; longer steps can."""

    def realise(point):
        curvature, rate = point["L"] * point["share"], point["scale"] / point["L"]
        after = point["w"] * (1 - rate * curvature)
        return {"planted_a": after * after, "planted_b": point["w"] * point["w"], "eta": rate, "L": point["L"]}

    space = Space({"L": Real(0.5, 5), "share": Real(0.1, 1), "scale": Real(1, 3), "w": Real(0.1, 3)})
    return claim(
        "descends",
        Kind.RULE,
        Le(a, b),
        Instances(space=space, realise=realise),
        premises=(Le(eta, 2 * factor / L),),
    )


ABOVE, BELOW = sp.Rational(101, 100), sp.Rational(99, 100)

TRUE = [jensen, variance, smoothness, sum_of_squares, contraction, sampled, power_law, descends]

FALSE = {
    "jensen": lambda: jensen(BELOW),
    "variance": lambda: variance(BELOW),
    "smoothness": lambda: smoothness(BELOW),
    "binomial": lambda: binomial(ABOVE),
    "sum-of-squares": lambda: sum_of_squares(ABOVE),
    "contraction": lambda: contraction(BELOW),
    "sampled": lambda: sampled(BELOW, replicates=20_000),
    "power-law": lambda: power_law(-1.01),
    "missing-factor": missing_factor,
    "descends": lambda: descends(ABOVE),
}
