"""Statements whose truth is known, each with a number that makes it false when it is enlarged a little."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from fltheory.bounds.algebra import EE, NormSq
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind, Rejected
from fltheory.bounds.quantities import family, index, scalar
from fltheory.bounds.space import Integer, Params, Real, Space

eta = scalar("eta", r"\eta", "learning rate", domain="nonnegative")
h = scalar("h", "h", "curvature", domain="nonnegative")
mu = scalar("mu", r"\mu", "smallest curvature", domain="nonnegative")
L = scalar("L", "L", "largest curvature", domain="positive")
N = scalar("N", "N", "number of vectors", domain="integer>=1")
k = index("k")
v = family("v", "v_{<0>}", "vectors")
noise = scalar("noise", r"\nu", "random number", random=True)
out = family("out", "y_{<0>}", "values that the instance computes")

RATE = (
    Assumption("small rate", sp.Le(eta * L, 1)),
    Assumption("at least the smallest", sp.Ge(h, mu)),
    Assumption("at most the largest", sp.Le(h, L)),
)


def contraction(factor: Any = 1) -> Form:
    r"""Return :math:`(1 - \eta h)^2 \le 1 - c\mu\eta`, true for c = 1 and false for any larger c."""
    return Form(statement=sp.Le((1 - eta * h) ** 2, 1 - factor * mu * eta, evaluate=False), assumptions=RATE)


def triangle(factor: Any = 1) -> Form:
    r"""Return :math:`c\|\sum v_k\|^2 \le N\sum\|v_k\|^2`, an equality for equal vectors."""
    total = sp.Sum(v[k], (k, 1, N))
    return Form(statement=sp.Le(factor * NormSq(total), N * sp.Sum(NormSq(v[k]), (k, 1, N))), assumptions=())


def variance(factor: Any = 1) -> Form:
    r"""Return :math:`c(\mathbb E\nu)^2 \le \mathbb E\nu^2`, an equality for constants."""
    return Form(statement=sp.Le(factor * EE(noise) ** 2, EE(noise**2)), assumptions=())


def squares(factor: Any = 1) -> Form:
    """Return an equation that the instance below fulfils for c = 1."""
    return Form(statement=sp.Eq(factor * out[1], out[2], evaluate=False), assumptions=())


def realise(point: Params) -> dict[str, Any]:
    """Return a square in two ways; the second one compares."""
    x, y = point["x"], point["y"]
    larger = x if x >= y else y
    smaller = y if x >= y else x
    return {"out": np.array([(x + y) ** 2, larger**2 + smaller**2 + 2 * larger * smaller], dtype=object)}


CHECK = Instances(space=Space({"n": Integer(1, 2), "x": Real(-1, 1), "y": Real(-1, 1)}), realise=realise)
"""Instances of :func:`squares`."""


def nowhere(point: Params) -> dict[str, Any]:
    """Return nothing: there are no instances."""
    raise Rejected("there are none")


NOTHING = Instances(space=CHECK.space, realise=nowhere)
"""No instances, for statements that are proved as they are written."""


def claimed(form: Form) -> Claim:
    """Return a claim with one form."""
    about_instances = any(relation.has(out) for relation in form.relations)
    return Claim(
        id="planted.form",
        kind=Kind.IDENTITY,
        title="planted",
        citation=Citation("planted", "nowhere"),
        forms=(form,),
        check=CHECK if about_instances else NOTHING,
    )
