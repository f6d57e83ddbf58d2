r"""Logistic problems that have the given constants exactly, or an error that says which values are possible.

All clients start from the same samples: features :math:`z_j \sim N(0, I)` and labels with log-odds of size ``signal``.

* **mu** is the l2 weight. It is the modulus of strong convexity over all models, since the Hessian of the data vanishes
  far away (and in softmax models along equal changes of all rows, everywhere).
* **L**: features are scaled until :math:`\kappa\,\lambda_{\max}(X^\top X/n) + \mu = L` for every client, with
  :math:`\kappa = 1/4` (binary; attained at the zero model) or :math:`1/2` (softmax; with an intercept the supremum
  over all models, without one a bound). Every ``L > mu`` is reachable.
* **Client drift** :math:`\frac1N\sum_i\|\nabla f_i(w^*)\|^2`.

  - ``rotation``: client ``i`` sees the features turned by the angle :math:`2\pi t\, i/N` in one plane, in which the
    labels' signal lies, so that clients disagree about what the features mean. Turning leaves ``L`` alone. The drift is
    a continuous function of ``t``, zero at ``t = 0``, and a root search finds the ``t`` of the requested drift; values
    up to the largest drift of this family are reachable, and for larger ones the error names it.
  - ``tilt``: :math:`\langle\delta_i, w\rangle` is added to the objective of client ``i``, as in the quadratics. Then
    :math:`\nabla f_i - \nabla f = \delta_i` at every model, not only at :math:`w^*`, and every value is reachable.

* **Round drift** :math:`\mathbb E\|\xi_{t,i}\|^2`, the same at every model in both cases.

  - ``labels``: each round redraws labels with probability ``q`` (see :mod:`fltheory.logistic.problem`), which changes
    the gradient by a vector of mean square :math:`\frac1n\,\overline{\|x\|^2}\;r(q)`, with
    :math:`r(q) = \bigl(1-\tfrac1C\bigr)(2q - q^2)` for softmax and half of it for the binary model. So
    :math:`q = 1 - \sqrt{1 - r/r(1)}`, and values up to that of :math:`r(1)` are reachable. Redrawn labels follow the
    features less, so the largest client drift by rotation shrinks as the round drift grows.
  - ``tilt``: :math:`\langle\xi_{t,i}, w\rangle` is added, fresh in every round. Every value is reachable.

* **Noise**: ``noise_sq`` is the second moment of the noise added to every stochastic gradient, at every model;
  minibatches (``batch_size``) add theirs, which depends on the model (``constants_on_ball`` bounds it).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from fltheory._internal import arguments, memory, seeding
from fltheory._internal.arguments import Floats, Ints
from fltheory._internal.seeding import Purpose
from fltheory.errors import InvalidParameter
from fltheory.logistic.constants import client_drift_sq as drift_at_minimiser
from fltheory.logistic.model import one_hot, probabilities, scores
from fltheory.logistic.problem import LogisticProblem
from fltheory.logistic.samples import Samples

SCENARIOS = ("S1", "S2")
_OWNER = "controlled_logistic"


def controlled_logistic(
    *,
    num_features: int = 10,
    num_clients: int = 10,
    num_classes: int = 2,
    mu: float = 0.1,
    L: float = 1.0,
    samples: int = 50,
    signal: float = 2.0,
    intercept: bool = False,
    scenario: str = "S2",
    client_drift_sq: float = 0.01,
    client_drift_by: str = "rotation",
    client_drift_centred: bool = True,
    round_drift_sq: float = 0.01,
    round_drift_by: str = "labels",
    noise_sq: float = 0.0,
    noise_law: str = "gaussian",
    batch_size: int | None = None,
    seed: int = 0,
) -> LogisticProblem:
    r"""Return a logistic problem with exactly these constants; the module says how, and which values are reachable.

    Parameters
    ----------
    num_features, num_clients
        Sizes.
    num_classes
        2 gives the binary model with one row of weights, more give softmax with a row per class.
    mu, L
        Strong convexity and smoothness of every client's objective, ``0 < mu < L``.
    samples
        Samples of each client.
    signal
        How far the labels follow the features: the norm of the model they are drawn from.
    intercept
        Append a feature that is the same for all samples.
    scenario
        ``S2``: the same clients in every round. ``S1``: fresh clients, whose drift is drawn anew; only by ``tilt``.
    client_drift_sq
        In S2 the mean over the clients of ``||grad f_i(w_star)||^2``, in S1 the expectation of ``||delta||^2``.
    client_drift_by
        ``rotation`` or ``tilt``.
    client_drift_centred
        Make the tilts of a round sum to zero; a rotation always does, as the objective is the mean of the clients'.
    round_drift_sq
        ``E ||xi||^2``.
    round_drift_by
        ``labels`` or ``tilt``.
    noise_sq, noise_law, batch_size
        See :class:`~fltheory.logistic.problem.LogisticProblem`.
    seed
        Seed of the instance.

    Examples
    --------
    >>> problem = controlled_logistic(mu=0.2, L=3.0, client_drift_sq=0.25, round_drift_sq=0.04, noise_sq=0.5)
    >>> names = ("mu", "L", "client_drift_sq", "round_drift_sq")
    >>> {name: round(problem.constants()[name].value, 9) for name in names}
    {'mu': 0.2, 'L': 3.0, 'client_drift_sq': 0.25, 'round_drift_sq': 0.04}
    >>> controlled_logistic(mu=0.2, L=3.0, client_drift_sq=25.0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    fltheory.errors.InvalidParameter: controlled_logistic.client_drift_sq must be in [0, 0.7063...] for ...
    """
    clients = arguments.integer(_OWNER, "num_clients", num_clients, low=1)
    width = arguments.integer(_OWNER, "num_features", num_features, low=1)
    classes = arguments.integer(_OWNER, "num_classes", num_classes, low=2)
    count = arguments.integer(_OWNER, "samples", samples, low=1)
    models = 1 if classes == 2 else classes
    memory.require_product(
        _OWNER,
        {"num_clients": clients, "num_features": width, "samples": count, "num_classes": classes},
        3 * 8 * (clients * (count + models) * (width + 1) + count * classes),
        f"samples={count} of num_clients={clients} with num_features={width} and num_classes={classes}",
    )
    low = arguments.real(_OWNER, "mu", mu, low=0, open_low=True, remedy="separable data have no minimiser without it")
    high = arguments.real(_OWNER, "L", L, low=low, open_low=True, remedy="mu must be below it")
    drift_sq = arguments.real(_OWNER, "client_drift_sq", client_drift_sq, low=0)
    by_tilt = arguments.choice(_OWNER, "client_drift_by", client_drift_by, ("rotation", "tilt")) == "tilt"
    centred = arguments.boolean(_OWNER, "client_drift_centred", client_drift_centred)
    fresh = arguments.choice(_OWNER, "scenario", scenario, SCENARIOS) == "S1"
    if fresh and not by_tilt and drift_sq > 0:
        raise arguments.fail(_OWNER, "client_drift_by", "'tilt' in scenario S1", client_drift_by)
    if clients == 1 and drift_sq > 0 and (centred or not by_tilt):
        raise arguments.fail(
            _OWNER, "client_drift_sq", "0 for one client", drift_sq, "add clients, or tilt without client_drift_centred"
        )
    seed = arguments.integer(_OWNER, "seed", seed, low=0)
    rng = seeding.generator(seed, Purpose.INSTANCE)
    drawn, labels = _drawn(rng, count, width, classes, arguments.real(_OWNER, "signal", signal, low=0))
    if arguments.boolean(_OWNER, "intercept", intercept):
        drawn = np.hstack([drawn, np.ones((count, 1))])
    features = drawn * math.sqrt((high - low) * count / (0.25 if classes == 2 else 0.5)) / np.linalg.norm(drawn, ord=2)
    xi_sq = arguments.real(_OWNER, "round_drift_sq", round_drift_sq, low=0)
    by_labels = arguments.choice(_OWNER, "round_drift_by", round_drift_by, ("labels", "tilt")) == "labels"
    redrawn = _label_drift(features, classes, xi_sq) if by_labels else 0.0
    dim = features.shape[1] * (1 if classes == 2 else classes)
    tilts = _spread(rng.standard_normal((clients, dim)), drift_sq, centred)

    def turned(angles: Floats, plane: Floats) -> LogisticProblem:
        return LogisticProblem(
            train=Samples.from_clients([_turn(features, plane, angle) for angle in angles], [labels] * clients),
            num_classes=classes,
            binary=classes == 2,
            l2=low,
            batch_size=batch_size,
            label_drift=redrawn,
            client_drift=tilts if by_tilt and not fresh and drift_sq > 0 else None,
            fresh_drift_sq=drift_sq if fresh else 0.0,
            fresh_drift_centred=fresh and centred and drift_sq > 0,
            round_drift_sq=0.0 if by_labels else xi_sq,
            noise_sq=noise_sq,
            noise_law=noise_law,
        )

    if by_tilt or drift_sq == 0:
        return turned(np.zeros(clients), np.zeros((2, features.shape[1])))
    if width == 1:
        raise arguments.fail(
            _OWNER, "num_features", "at least 2 for clients by rotation", width, "or set client_drift_by to 'tilt'"
        )
    plane = _plane(rng, features, labels, width, 1 if classes == 2 else classes)
    whole = 2.0 * math.pi * np.arange(clients) / clients
    return turned(_share(lambda t: drift_at_minimiser(turned(t * whole, plane)), drift_sq) * whole, plane)


def _drawn(rng: np.random.Generator, count: int, width: int, classes: int, signal: float) -> tuple[Floats, Ints]:
    """Return features and labels before anything is scaled."""
    features = rng.standard_normal((count, width))
    model = rng.standard_normal((1 if classes == 2 else classes, width))
    chances = probabilities(scores(features, signal * model.ravel() / np.linalg.norm(model)))
    if classes == 2:
        chances = np.hstack([1.0 - chances, chances])
    below = rng.random((count, 1)) < np.cumsum(chances, axis=1)[:, :-1]
    return features, np.asarray(classes - 1 - below.sum(axis=1), dtype=np.int64)


def _label_drift(features: Floats, classes: int, wanted: float) -> float:
    """Return the probability of redrawing a label at which the round drift has the wanted second moment."""
    most = (features**2).sum(axis=1).mean() / len(features) * (0.25 if classes == 2 else 1.0 - 1.0 / classes)
    if wanted > most:
        raise _unreachable("round_drift_sq", wanted, most, "raise L, lower samples, or set round_drift_by to 'tilt'")
    share = wanted / most
    return float(share / (1.0 + math.sqrt(1.0 - share)))  # 1 - sqrt(1 - share) without cancellation


def _plane(rng: np.random.Generator, features: Floats, labels: Ints, width: int, rows: int) -> Floats:
    """Return two orthogonal directions of features, shape ``(2, features)``; the labels depend on the first most."""
    residuals = probabilities(np.zeros((len(labels), rows))) - one_hot(labels, rows)
    slopes = (residuals.T @ features)[:, :width]
    first = np.linalg.svd(slopes, full_matrices=False)[2][0]
    second = rng.standard_normal(width)
    second -= (second @ first) * first
    plane = np.zeros((2, features.shape[1]))
    plane[:, :width] = first, second / np.linalg.norm(second)
    return plane


def _turn(features: Floats, plane: Floats, angle: float) -> Floats:
    """Return the features turned by an angle in a plane."""
    inside = features @ plane.T
    cosine, sine = math.cos(angle), math.sin(angle)
    return np.asarray(features + inside @ (np.array([[cosine - 1.0, sine], [-sine, cosine - 1.0]]) @ plane))


def _share(drift_sq: Callable[[float], float], wanted: float) -> float:
    """Return how much of the whole rotation gives the wanted drift; the drift is continuous and 0 at 0."""
    from scipy.optimize import brentq, minimize_scalar

    end = 1.0
    if drift_sq(end) < wanted:
        end = float(minimize_scalar(lambda t: -drift_sq(t), bounds=(0.0, 1.0), method="bounded").x)
    most = drift_sq(end)
    if most < wanted:
        raise _unreachable("client_drift_sq", wanted, most, "raise L or signal, or set client_drift_by to 'tilt'")
    tiny = np.finfo(np.float64).eps
    return float(brentq(lambda t: drift_sq(t) - wanted, 0.0, end, xtol=tiny, rtol=4 * tiny))


def _unreachable(field: str, wanted: float, most: float, remedy: str) -> InvalidParameter:
    # Rounded down, so that the value shown can be asked for.
    shown = f"{most * (1.0 - 1e-5):.6g}"
    return arguments.fail(_OWNER, field, f"in [0, {shown}] for these samples", wanted, remedy)


def _spread(vectors: Floats, second_moment: float, centred: bool) -> Floats:
    """Rescale vectors (after centring, if asked) so that their mean square is the requested one."""
    if centred:
        vectors = vectors - vectors.mean(axis=0)
    size = float((vectors**2).sum(axis=1).mean())
    return np.asarray(vectors * math.sqrt(second_moment / size) if second_moment else np.zeros_like(vectors))
