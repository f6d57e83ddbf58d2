r"""How different clients are: the constants that theorems assume, for a given problem, or why there are none.

Uniform heterogeneity asks for a :math:`\zeta` with :math:`\|\nabla f_i(x) - \nabla f(x)\| \le \zeta` for all clients
and **all** :math:`x`; :math:`(G, B)`-dissimilarity for

.. math:: \sum_ip_i\|\nabla f_i(x)\|^2 \le G^2 + B^2\|\nabla f(x)\|^2
   \qquad\text{or, for convex functions,}\qquad
   \sum_ip_i\|\nabla f_i(x)\|^2 \le G^2 + 2\beta B^2\bigl(f(x) - f^*\bigr) .

On quadratics with gradients :math:`H_ix + b_i` both are decided exactly. A :math:`\zeta` exists only if all Hessians
are equal. The difference of the two sides of a dissimilarity is a quadratic function of :math:`x`, with the Hessian
:math:`2(\sum_ip_iH_i^2 - B^2H^2)` or :math:`2(\sum_ip_iH_i^2 - \beta B^2H)`: it is bounded above only if that has no
positive direction, so :math:`B` must be large enough, and its largest value is then the smallest :math:`G^2`. With
:math:`G = 0`, where theorems speak of :math:`B` alone, all clients' gradients would have to vanish at :math:`x^*`.

Other problems may know a bound :math:`\zeta_i` on :math:`\|\nabla f_i(x) - \nabla f(x)\|` for all :math:`x`, their
constant ``gradient_spread``; logistic problems do (:func:`fltheory.logistic.constants.gradient_spread`). Then
:math:`\zeta = \max_i\zeta_i`. As :math:`\nabla f = \sum_ip_i\nabla f_i`, the mean of the :math:`\|\nabla f_i\|^2` is
:math:`\|\nabla f\|^2 + \sum_ip_i\|\nabla f_i - \nabla f\|^2`, and :math:`\|\nabla f\|^2 \le 2\beta(f - f^*)`. So
dissimilarity holds with :math:`G^2 = \sum_ip_i\zeta_i^2` for every :math:`B \ge 1`: valid, not the smallest. For all
others these constants have to be declared.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.bounds.observation import Facts
from fltheory.errors import MissingConstants, NotApplicable
from fltheory.problems.problem import Origin, Problem
from fltheory.quadratic.problem import Quadratic, client_gradients

SAME = 1e-9
"""Size below which an eigenvalue, a slope or a difference counts as zero, relative to the largest Hessian."""


class Growth(enum.Enum):
    """What the dissimilarity of clients may grow with."""

    GRADIENT = "squared gradient"
    GAP = "gap"


@dataclass(frozen=True, slots=True)
class _Parts:
    """Gradients of quadratics: Hessians ``(clients, dim, dim)``, gradients at the minimiser, weights."""

    hessians: Floats
    at_star: Floats
    weights: Floats

    @classmethod
    def of(cls, problem: Quadratic) -> _Parts:
        whole = problem.objective()
        corners = np.concatenate([np.zeros((1, problem.dim)), np.eye(problem.dim)]) + np.asarray(whole.w_star)
        gradients = client_gradients(problem, corners)
        columns = gradients[:, 1:] - gradients[:, :1]
        return cls(np.swapaxes(columns, 1, 2), gradients[:, 0], np.asarray(problem.weights))

    @property
    def mean(self) -> Floats:
        return np.asarray(np.einsum("n,nij->ij", self.weights, self.hessians))

    @property
    def squares(self) -> Floats:
        return np.asarray(np.einsum("n,nki,nkj->ij", self.weights, self.hessians, self.hessians))

    @property
    def scale(self) -> float:
        return max(float(np.abs(self.hessians).max()), 1e-300)


def uniform(problem: Problem) -> float:
    """Return a bound on the difference of a client's and the global gradient; on quadratics the smallest one.

    Examples
    --------
    >>> import fltheory as fl
    >>> round(uniform(fl.client_quadratics(dim=2, num_clients=2, mu=1.0, L=1.0, dissimilarity=0.0, spread=4.0)), 6)
    2.0
    """
    if (spread := _spread(problem)) is not None:
        return float(spread.max())
    parts = _Parts.of(
        _quadratic(problem, "zeta", "largest norm of the difference of a client's and the global gradient")
    )
    apart = float(np.abs(np.linalg.eigvalsh(parts.hessians - parts.mean)).max())
    if apart > SAME * parts.scale:
        raise NotApplicable(
            f"uniform heterogeneity does not hold: Hessians of clients differ from their mean by up to {apart:.6g}, so "
            "that the difference of gradients grows without bound; declare zeta=... if models stay in a bounded set"
        )
    away = parts.at_star - parts.weights @ parts.at_star
    return float(np.sqrt((away**2).sum(axis=1)).max())


def least_growth(problem: Problem, growth: Growth = Growth.GRADIENT) -> float:
    r"""Return the smallest :math:`B^2` with which some :math:`G` exists.

    >>> import fltheory as fl
    >>> least_growth(fl.client_quadratics(dim=2, num_clients=2, mu=1.0, L=1.0, dissimilarity=0.0))
    1.0
    """
    parts = _Parts.of(_quadratic(problem, "B_sq", "growth of the dissimilarity of clients, squared"))
    values, vectors = np.linalg.eigh(_allowed(parts, growth, 1.0))
    kept = values > SAME * parts.scale**2
    # Where the objective of convex clients is flat, so are all of theirs.
    whitened = vectors[:, kept] / np.sqrt(values[kept])
    return float(round(np.linalg.eigvalsh(whitened.T @ parts.squares @ whitened).max(), 12))


def dissimilarity(problem: Problem, growth_sq: float, growth: Growth = Growth.GRADIENT) -> float:
    r"""Return a :math:`G^2` for a given :math:`B^2`, on quadratics the smallest, or raise with the needed :math:`B^2`.

    Examples
    --------
    >>> import fltheory as fl
    >>> problem = fl.client_quadratics(dim=2, num_clients=2, mu=1.0, L=1.0, dissimilarity=0.0, spread=4.0)
    >>> round(dissimilarity(problem, 1.0), 6)
    4.0
    """
    growth_sq = arguments.real("dissimilarity", "growth_sq", growth_sq, low=0)
    if (spread := _spread(problem)) is not None:
        if growth_sq < 1:
            raise NotApplicable(
                f"dissimilarity is not known with B_sq = {growth_sq:.6g} for {type(problem).__name__}; with B_sq of at "
                "least 1 it is"
            )
        return float(problem.weights @ spread**2)
    parts = _Parts.of(_quadratic(problem, "G_sq", "dissimilarity of clients that does not grow, squared"))
    kept = _allowed(parts, growth, growth_sq) - parts.squares
    values, vectors = np.linalg.eigh(kept)
    if values.min() < -SAME * parts.scale**2:
        needed = least_growth(problem, growth)
        raise NotApplicable(
            f"dissimilarity does not hold with B_sq = {growth_sq:.6g}: on these clients B_sq must be at least "
            f"{needed:.6g}, whatever G"
        )
    # Around the minimiser: constant + 2 slope'y - y' kept y, largest at the stationary point.
    slope = np.einsum("n,nji,nj->i", parts.weights, parts.hessians, parts.at_star)
    constant = float(parts.weights @ (parts.at_star**2).sum(axis=1))
    along = vectors.T @ slope
    curved = values > SAME * parts.scale**2
    if np.any(np.abs(along[~curved]) > SAME * parts.scale * max(np.sqrt(constant), 1e-300)):
        raise NotApplicable(
            f"dissimilarity does not hold with B_sq = {growth_sq:.6g}: the clients' gradients grow in a direction in "
            "which the two sides are equally curved; B_sq must be larger"
        )
    return constant + float((along[curved] ** 2 / values[curved]).sum())


def _allowed(parts: _Parts, growth: Growth, growth_sq: float) -> Floats:
    """Return the matrix of what the right-hand side may grow by."""
    if growth is Growth.GRADIENT:
        return np.asarray(growth_sq * parts.mean @ parts.mean)
    return np.asarray(growth_sq * float(np.linalg.eigvalsh(parts.hessians).max()) * parts.mean)


def _spread(problem: Problem) -> Floats | None:
    """Return what a problem that is no quadratic knows about the difference of its clients' gradients, per client."""
    if isinstance(problem, Quadratic):
        return None
    known = problem.constants().get("gradient_spread")
    return None if known is None else np.asarray(known.value, dtype=np.float64)


def _quadratic(problem: Problem, name: str, meaning: str) -> Quadratic:
    if not isinstance(problem, Quadratic):
        raise MissingConstants({name: f"{meaning}, over all models"}, where=type(problem).__name__)
    return problem


def observed_zeta(facts: Facts) -> float:
    """Return zeta on an experiment: declared, or computed on quadratics with one Hessian; refuse where none exists."""
    if "zeta" in facts.given:
        return float(facts.keep("zeta", facts.given["zeta"], Origin.DECLARED))
    quadratic = isinstance(facts.problem, Quadratic)
    note = "constant, since all clients have one Hessian" if quadratic else "bound for all models"
    return float(facts.keep("zeta", uniform(facts.problem), Origin.COMPUTED, note))


def observed_dissimilarity(facts: Facts, growth: Growth, default: float) -> tuple[float, float]:
    """Return the squares of G and B on an experiment: declared, or computed for a B.

    A declared G that does not hold on quadratics is refused, with the one that does.
    """
    growth_sq = float(facts.keep("B_sq", default, Origin.COMPUTED, "with it, some G exists for convex clients"))
    if "G_sq" in facts.given and not isinstance(facts.problem, Quadratic):
        return float(facts.keep("G_sq", None, Origin.DECLARED)), growth_sq
    least = dissimilarity(facts.problem, growth_sq, growth)
    quadratic = isinstance(facts.problem, Quadratic)
    note = "the smallest that holds for all models" if quadratic else "holds for all models"
    value = float(facts.keep("G_sq", least, Origin.COMPUTED, note))
    if value < least * (1 - SAME):
        raise NotApplicable(
            f"dissimilarity does not hold with G_sq = {value:.6g} and B_sq = {growth_sq:.6g}: on these clients G_sq "
            f"must be at least {least:.6g}"
        )
    return value, growth_sq
