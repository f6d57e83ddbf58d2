"""What every problem offers: its constants, its objective, and oracles for the engines."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.errors import NotApplicable
from fltheory.problems.oracle import Oracle


class Origin(enum.Enum):
    """Where the value of a constant comes from."""

    COMPUTED = "computed"
    """Follows from the instance by a formula or a solve."""
    DECLARED = "declared"
    """Stated by the caller and true by construction of the law, not read off an instance."""
    MEASURED = "measured"
    """Seen on the visited set only; a theorem checked with it is checked more weakly."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A number (or an array with one per client, or a model) that theorems refer to.

    Parameters
    ----------
    value
        The value.
    origin
        Whether it was computed, declared or measured.
    note
        What it is, or where it was measured, in a few words.
    """

    value: Any
    origin: Origin
    note: str = ""


class Objective(Protocol):
    """The function that is minimised, for one choice of client weights."""

    @property
    def w_star(self) -> Floats:
        """A minimiser, shape ``(dim,)``; :class:`~fltheory.errors.NotApplicable` where none is known."""
        ...

    @property
    def f_star(self) -> float:
        """The minimum."""
        ...

    def gap(self, w: Floats) -> Floats:
        """Return ``f(w) - f_star`` for models ``(..., dim)``."""
        ...

    def gradient(self, w: Floats) -> Floats:
        """Return the gradient at models ``(..., dim)``."""
        ...

    def measure(self, w: Floats) -> Measures | LossMeasures:
        """Return how good models ``(..., dim)`` are: what is recorded of them, as curves of the same names."""
        ...


class Measures(NamedTuple):
    """How good models are where the minimiser is known; for models ``(..., dim)`` all have the shape ``(...,)``.

    Parameters
    ----------
    distance_sq
        Squared distance to the minimiser.
    gap
        Objective minus its minimum.
    gradient_norm_sq
        Squared norm of the gradient.
    """

    distance_sq: Floats
    gap: Floats
    gradient_norm_sq: Floats


class LossMeasures(NamedTuple):
    """How good models are where no minimiser is known; for models ``(..., dim)`` all have the shape ``(...,)``.

    Parameters
    ----------
    loss
        Training loss.
    accuracy
        Share of the test samples that are classified correctly.
    """

    loss: Floats
    accuracy: Floats


def norm_sq(vectors: Floats) -> Floats:
    """Return squared norms over the last axis."""
    return np.asarray(np.einsum("...d,...d->...", vectors, vectors))


class EngineOracle(Oracle, Protocol):
    """An oracle as the engine sees it: it can be moved to a round and knows its coordinates."""

    def begin_round(self, index: int) -> None:
        """Draw what is fresh in round ``index`` and forget the round before."""
        ...

    def objective(self, p: Floats) -> Objective:
        """Return the objective with client weights ``p`` in the coordinates of this oracle."""
        ...

    def enter(self, w: Floats) -> Floats:
        """Carry models ``(..., dim)`` into the coordinates of this oracle."""
        ...

    def leave(self, w: Floats) -> Floats:
        """Carry models ``(..., dim)`` back into the coordinates of the problem."""
        ...

    def client_measures(self, w: Floats) -> Mapping[str, Floats]:
        """Return how good personal models are, by the name of the curve, each of shape ``(replicates, clients)``.

        ``personal_gap`` is ``f_i(w_i) - f_i*``; where minima are not known, ``personal_loss`` and
        ``personal_accuracy`` stand in for it.
        """
        ...


class Problem(Protocol):
    """A federated objective with its noise."""

    packages: ClassVar[tuple[str, ...]]
    """What its numbers depend on besides what all numbers do: packages whose versions are recorded."""

    @property
    def num_clients(self) -> int:
        """Number of clients."""
        ...

    @property
    def dim(self) -> int:
        """Length of a model."""
        ...

    @property
    def weights(self) -> Floats:
        """Objective weights ``p_i``, shape ``(clients,)``."""
        ...

    @property
    def sample_counts(self) -> Floats:
        """Sample counts ``n_i``, shape ``(clients,)``; the weights are proportional to them."""
        ...

    @property
    def start(self) -> Floats:
        """The model before round 0 unless the experiment says otherwise, shape ``(dim,)``."""
        ...

    def constants(self) -> Mapping[str, Constant]:
        """Return the constants by name: ``mu L sigma_sq w_star f_star client_f_star gamma epsilon`` ..."""
        ...

    def objective(self, p: Floats | None = None) -> Objective:
        """Return the objective with client weights ``p`` (default: the problem's own)."""
        ...

    def reference_oracle(self, *, seed: int, replicates: range) -> EngineOracle:
        """Return the plain NumPy oracle, in the coordinates of the problem.

        Parameters
        ----------
        seed
            Seed of noise, drifts and minibatches.
        replicates
            Numbers of the replicates that the oracle serves.
        """
        ...

    def compiled_oracle(self, *, seed: int, replicates: range, rotation_equivariant: bool) -> EngineOracle:
        """Return the compiled oracle.

        Parameters
        ----------
        seed, replicates
            As for :meth:`reference_oracle`.
        rotation_equivariant
            Whether the algorithm treats all directions alike, so that the oracle may work in rotated coordinates.
        """
        ...


def require_problem(owner: str, problem: Any) -> None:
    """Refuse what is no problem."""
    members = ("num_clients", "dim", "objective")
    arguments.has(owner, "problem", problem, members, "a problem, such as fl.noisy_quadratic()")


@runtime_checkable
class BoundedOnBalls(Protocol):
    """A problem that knows constants which hold for every model in a ball; not every problem does."""

    def constants_on_ball(self, radius: float, centre: Floats | None = None) -> Mapping[str, Constant]:
        """Return constants by name; see :func:`constants_on_ball`."""
        ...


def constants_on_ball(problem: Problem, radius: float, centre: Floats | None = None) -> Mapping[str, Constant]:
    r"""Return constants that hold for every model at a distance of at most ``radius`` from ``centre``.

    ``mu`` and ``L`` bound the eigenvalues of every client's Hessian, ``client_mu`` and ``client_L`` those of each
    client; ``sigma_sq`` bounds each client's variance of a stochastic gradient, ``gradient_sq`` each client's
    :math:`\mathbb E\|g_i(w)\|^2`, drift included, and ``G_sq`` the largest of them. Quadratics attain all of them;
    for logistic problems they are proven bounds (:mod:`fltheory.logistic.ball`).

    Parameters
    ----------
    problem
        A problem that implements :class:`BoundedOnBalls`; :class:`~fltheory.errors.NotApplicable` otherwise.
    radius
        At least 0.
    centre
        Shape ``(dim,)``; the minimiser if not given.
    """
    require_problem("constants_on_ball", problem)
    if not isinstance(problem, BoundedOnBalls):
        raise NotApplicable(
            f"constants on a ball are not known for {type(problem).__name__}; it has no method constants_on_ball"
        )
    return problem.constants_on_ball(radius, centre)


def ball(owner: str, problem: Problem, radius: float, centre: Floats | None) -> tuple[float, Floats]:
    """Return the radius and the centre of a ball after looking at them; the centre is the minimiser by default."""
    size = arguments.real(owner, "radius", radius, low=0)
    if centre is None:
        return size, problem.objective().w_star
    return size, arguments.array(owner, "centre", centre, shape=(problem.dim,))


def ball_constants(*, mu: Floats, L: Floats, sigma_sq: Floats, gradient_sq: Floats) -> Mapping[str, Constant]:
    """Return the constants of :func:`constants_on_ball` from their values per client."""
    note = "for all models in the ball"
    values: dict[str, float | Floats] = {
        "mu": float(mu.min()),
        "L": float(L.max()),
        "client_mu": arguments.frozen(mu),
        "client_L": arguments.frozen(L),
        "sigma_sq": arguments.frozen(sigma_sq),
        "gradient_sq": arguments.frozen(gradient_sq),
        "G_sq": float(gradient_sq.max()),
    }
    return {name: Constant(value, Origin.COMPUTED, note) for name, value in values.items()}
