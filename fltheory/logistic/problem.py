r"""Federated logistic regression: each client has its own samples, the objective is their weighted mean loss.

.. math:: f_i(w) = \frac{1}{n_i}\sum_{j} \ell(w; x_{ij}, y_{ij}) + \frac{\lambda}{2}\|w\|^2,
          \qquad f = \sum_i p_i f_i, \quad p_i = n_i / n,

with the softmax loss over ``num_classes`` rows of weights, or the binary loss over one row (``binary=True``). An
intercept is a feature that is always 1 (:meth:`~fltheory.logistic.samples.Samples.with_intercept`); it is
regularised like every other weight.

**Label drift.** With ``label_drift = q > 0`` every round ``t`` redraws the labels: independently for each sample,
with probability ``q`` the label is replaced by one drawn uniformly from all classes (the old one included), and it
stays so for the round. The loss is affine in the one-hot label :math:`e_y`, and
:math:`\mathbb E\,e_{y_t} = (1-q)\,e_y + \frac qC \mathbf 1`, hence

.. math:: \mathbb E f_{t,i}(w) = \frac1{n_i}\sum_j \Bigl[(1-q)\,\ell(w; x_{ij}, y_{ij})
          + \frac qC \sum_{c}\ell(w; x_{ij}, c)\Bigr] + \frac\lambda2\|w\|^2 .

This expected loss, with soft labels, is what :meth:`LogisticProblem.objective` minimises and what the constants
refer to. Hessians do not depend on labels, so drift leaves them alone.

**Added drift and noise.** As for the quadratics, in round ``t`` the gradient of client ``i`` may be
:math:`\nabla f_i(w) + \delta_i + \delta_{t,i} + \xi_{t,i}`, and every stochastic gradient may add :math:`\nu`:
``client_drift`` holds the fixed :math:`\delta_i` of scenario S2, ``fresh_drift_sq`` the second moment of the drift of
scenario S1's fresh clients, ``round_drift_sq`` that of the drift over rounds, ``noise_sq`` that of the noise. The
objective is the one without them; a client's own objective has its :math:`\langle\delta_i, w\rangle`.
:func:`~fltheory.logistic.controlled.controlled_logistic` sets all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.errors import InvalidParameter, NotApplicable
from fltheory.logistic.model import LogisticLoss, in_blocks, one_hot, reference_measures, scores
from fltheory.logistic.oracle import LogisticOracle
from fltheory.logistic.samples import Samples
from fltheory.logistic.solve import minimise
from fltheory.logistic.steps import reference_steps
from fltheory.problems import display
from fltheory.problems.problem import Constant, Measures

NOISE_LAWS = ("gaussian", "bounded")

LARGEST_FEATURE = 1e70
"""Fourth powers of features, and sums of many, must be numbers."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class LogisticObjective:
    """An expected loss with its minimiser.

    Parameters
    ----------
    loss
        The function.
    w_star
        Its minimiser, shape ``(dim,)``, with a gradient of norm at most 1e-12.
    measurer
        Computes :meth:`measure` in place of array code.
    """

    loss: LogisticLoss
    w_star: Floats
    measurer: Callable[[Floats], Measures] | None = None

    @property
    def f_star(self) -> float:
        """The minimum."""
        return float(self.loss.value(self.w_star))

    def value(self, w: Floats) -> Floats:
        """Return ``f(w)`` for models ``(..., dim)``."""
        return in_blocks(self.loss.value, w, self._cost)

    def gap(self, w: Floats) -> Floats:
        """Return ``f(w) - f_star`` for models ``(..., dim)``, accurate relative to its own size.

        Computed as a Bregman divergence (see :mod:`fltheory.logistic.model`), so it is never negative; what is left
        out is the gradient at ``w_star``, at most ``1e-12 * ||w - w_star||``.
        """
        return in_blocks(lambda block: self.loss.divergence(block, self.w_star), w, self._cost)

    def gradient(self, w: Floats) -> Floats:
        """Return the gradient at models ``(..., dim)``."""
        return in_blocks(self.loss.gradient, w, self._cost)

    def measure(self, w: Floats) -> Measures:
        """Return squared distance, gap and squared gradient norm of models ``(..., dim)``."""
        return reference_measures(self.loss, self.w_star, w) if self.measurer is None else self.measurer(w)

    @property
    def _cost(self) -> int:
        return int(self.loss.targets.size)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class LogisticProblem:
    """Multinomial or binary logistic regression with l2 regularisation, spread over clients.

    Parameters
    ----------
    train
        The clients' samples; every client owns at least one.
    num_classes
        Number of classes.
    l2
        Regularisation, positive: without it separable data have no minimiser.
    binary
        Use one row of weights for two classes instead of one row per class.
    batch_size
        Samples per local step, drawn with replacement; ``None`` uses all samples of the client.
    label_drift
        Probability that a label is redrawn in a round.
    client_drift
        ``delta_i`` of scenario S2, added to the gradients of client ``i``, shape ``(clients, dim)``.
    fresh_drift_sq, fresh_drift_centred
        Scenario S1: ``E ||delta_{t,i}||^2`` of the clients of each round, and whether they sum to zero.
    round_drift_sq
        ``E ||xi_{t,i}||^2`` of the drift that is added to the gradients of a round.
    noise_sq
        ``E ||nu||^2`` of the noise that is added to every stochastic gradient: one number, or one per client.
    noise_law
        ``gaussian``, or ``bounded`` (uniform coordinates), for all that is added.
    test
        Held-out samples for :meth:`accuracy`.
    origin
        Where the samples come from, in words; for the record only.
    """

    packages: ClassVar[tuple[str, ...]] = ()

    train: Samples
    num_classes: int
    l2: float
    binary: bool = False
    batch_size: int | None = None
    label_drift: float = 0.0
    client_drift: Floats | None = None
    fresh_drift_sq: float = 0.0
    fresh_drift_centred: bool = False
    round_drift_sq: float = 0.0
    noise_sq: Floats | float = 0.0
    noise_law: str = "gaussian"
    test: Samples | None = None
    origin: str = ""
    _solved: dict[Any, Any] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        owner = "LogisticProblem"
        arguments.integer(owner, "num_classes", self.num_classes, low=2)
        remedy = "separable data have no minimiser without it"
        object.__setattr__(self, "l2", arguments.real(owner, "l2", self.l2, low=0, open_low=True, remedy=remedy))
        if arguments.boolean(owner, "binary", self.binary) and self.num_classes != 2:
            raise arguments.fail(owner, "num_classes", "2 if binary", self.num_classes, "set binary to false")
        if self.batch_size is not None:
            arguments.integer(owner, "batch_size", self.batch_size, low=1, remedy="leave it out for full gradients")
        object.__setattr__(self, "label_drift", arguments.real(owner, "label_drift", self.label_drift, low=0, high=1))
        for name, samples in (("train", self.train), ("test", self.test)):
            if samples is not None and samples.labels.size and samples.labels.max() >= self.num_classes:
                raise InvalidParameter(
                    f"{owner}.{name} must have labels in 0 .. {self.num_classes - 1}, got {samples.labels.max()}; "
                    "raise num_classes or renumber the labels"
                )
        if np.any(self.train.counts == 0):
            empty = int(np.argmin(self.train.counts))
            raise InvalidParameter(f"{owner}.train must have a sample for every client, got none for client {empty}")
        if (largest := float(np.abs(self.train.features).max())) > LARGEST_FEATURE:
            raise InvalidParameter(
                f"{owner}.train must have features of size at most {LARGEST_FEATURE:g}, got {largest:g}; scale them to "
                "order one"
            )
        if self.test is not None and self.test.features.shape[1] != self.train.features.shape[1]:
            raise InvalidParameter(
                f"{owner}.test must have {self.train.features.shape[1]} features like train, "
                f"got {self.test.features.shape[1]}"
            )
        self._check_additions(owner)

    def __repr__(self) -> str:
        facts: dict[str, object] = {"num_clients": self.num_clients, "dim": self.dim, "samples": len(self.train.labels)}
        if not self.binary:
            facts["classes"] = self.num_classes
        facts |= {"mu": self.l2, "L": float(self.client_smoothness.max())}
        optional = {
            "batch_size": self.batch_size,
            "label_drift": self.label_drift,
            "round_drift_sq": self.round_drift_sq,
            "fresh_drift_sq": self.fresh_drift_sq,
            "noise_sq": float(np.max(self.noise_sq)),
        }
        return display.one_line(self, facts | {name: value for name, value in optional.items() if value})

    def _repr_html_(self) -> str:
        quick = "constants" in self._solved or self.num_clients * self.dim**2 * (self.dim + self.num_clients) <= 10**8
        return display.table(repr(self), self.constants if quick else None)

    def _check_additions(self, owner: str) -> None:
        for name in ("fresh_drift_sq", "round_drift_sq"):
            object.__setattr__(self, name, arguments.real(owner, name, getattr(self, name), low=0))
        if arguments.boolean(owner, "fresh_drift_centred", self.fresh_drift_centred) and self.num_clients == 1:
            raise InvalidParameter(f"{owner}.fresh_drift_centred needs at least two clients")
        if self.client_drift is not None:
            shape = (self.num_clients, self.dim)
            drift = arguments.array(owner, "client_drift", self.client_drift, shape=shape)
            object.__setattr__(self, "client_drift", drift)
        one = np.ndim(self.noise_sq) == 0
        noise = (
            np.full(self.num_clients, arguments.real(owner, "noise_sq", self.noise_sq, low=0)) if one else self.noise_sq
        )
        noise = arguments.array(owner, "noise_sq", noise, shape=(self.num_clients,), low=0.0)
        object.__setattr__(self, "noise_sq", noise)
        arguments.choice(owner, "noise_law", self.noise_law, NOISE_LAWS)

    @property
    def num_clients(self) -> int:
        """Number of clients."""
        return self.train.num_clients

    @property
    def rows(self) -> int:
        """Rows of the weight matrix."""
        return 1 if self.binary else self.num_classes

    @property
    def dim(self) -> int:
        """Length of a model."""
        return self.rows * int(self.train.features.shape[1])

    @property
    def sample_counts(self) -> Floats:
        """Samples per client, shape ``(clients,)``."""
        return self.train.counts.astype(np.float64)

    @property
    def weights(self) -> Floats:
        """Objective weights: the clients' shares of the samples."""
        return np.asarray(self.sample_counts / len(self.train.labels), dtype=np.float64)

    @property
    def start(self) -> Floats:
        """The zero model."""
        return np.zeros(self.dim)

    @property
    def client_smoothness(self) -> Floats:
        r"""Largest eigenvalue of each client's Hessian over all models, or a bound on it, shape ``(clients,)``.

        :math:`\lambda_{\max}(X_i^\top X_i / n_i)` times the largest curvature of the log-partition function, 1/4
        (binary) or 1/2 (softmax), plus :math:`\lambda`. The binary value is attained at the zero model.
        """
        if "smoothness" not in self._solved:
            factor = 0.25 if self.binary else 0.5
            norms = [
                np.linalg.norm(self.train.features[self.train.rows(i)], ord=2) ** 2 for i in range(self.num_clients)
            ]
            self._solved["smoothness"] = arguments.frozen(factor * np.array(norms) / self.sample_counts + self.l2)
        smoothness: Floats = self._solved["smoothness"]
        return smoothness

    def objective(self, p: Floats | None = None) -> LogisticObjective:
        """Return the expected objective with client weights ``p`` (default: shares of the samples).

        The drifts are no part of it; a fixed drift of the clients whose weighted mean is zero would not change it.
        """
        if p is None:
            p = self.weights
        p = arguments.probabilities("LogisticProblem", "p", p, shape=(self.num_clients,))
        per_sample = np.repeat(p / self.sample_counts, self.train.counts)
        return self._solve(p.tobytes(), lambda: self._loss(slice(None), per_sample))

    def client_loss(self, client: int) -> LogisticLoss:
        """Return the expected loss of one client alone, with its fixed drift."""
        own = self.train.rows(client)
        count = own.stop - own.start
        linear = None if self.client_drift is None else self.client_drift[client]
        return self._loss(own, np.full(count, 1.0 / count), linear)

    def client_objective(self, client: int) -> LogisticObjective:
        """Return the expected objective of one client alone, with its fixed drift."""
        return self._solve(client, lambda: self.client_loss(client))

    def accuracy(self, w: Floats) -> Floats:
        """Return the share of test samples that models ``(..., dim)`` classify correctly, shape ``(...)``.

        Ties go to the lower class.
        """
        if self.test is None or not self.test.labels.size:
            raise NotApplicable("LogisticProblem.accuracy needs test samples; set test")
        test = self.test

        def share(block: Floats) -> Floats:
            z = scores(test.features, block)
            guess = (z[..., 0] > 0).astype(np.int64) if self.binary else z.argmax(axis=-1)
            return np.asarray((guess == test.labels).mean(axis=-1))

        return in_blocks(share, np.asarray(w, dtype=np.float64), len(test.labels) * self.rows)

    def constants(self) -> Mapping[str, Constant]:
        r"""Return the constants by name.

        ``mu``, ``L``, ``client_L``, ``sigma_sq``, ``client_drift_sq`` (:math:`\sum_i p_i\|\nabla f_i(w^*)\|^2`),
        ``fresh_drift_sq``, ``round_drift_sq``, ``drift_sq``, ``w_star``, ``f_star``, ``client_f_star``, ``gamma``
        (:math:`\Gamma_k = f_k(w^*) - f_k^*`), ``epsilon`` (:math:`\max_{i,k}\|H_i(w^*) - H_k(w^*)\|`) and, if fixed
        drifts have no mean, ``gradient_spread`` (a bound on :math:`\|\nabla f_i(w) - \nabla f(w)\|` for all models).
        """
        if "constants" not in self._solved:
            from fltheory.logistic.constants import constants

            self._solved["constants"] = constants(self)
        known: dict[str, Constant] = self._solved["constants"]
        return known

    def constants_on_ball(self, radius: float, centre: Floats | None = None) -> Mapping[str, Constant]:
        """Return constants that hold for all models in a ball; see :mod:`fltheory.logistic.ball`."""
        from fltheory.logistic.ball import constants_on_ball

        return constants_on_ball(self, radius, centre)

    def label_law(self, own: slice) -> Floats:
        """Return the law of the labels of some samples in a round, shape ``(samples, rows)``."""
        sharp = one_hot(self.train.labels[own], self.rows)
        return np.asarray((1.0 - self.label_drift) * sharp + self.label_drift / self.num_classes)

    def reference_oracle(self, *, seed: int, replicates: range) -> LogisticOracle:
        """Return the plain NumPy oracle."""
        return LogisticOracle(self, seed=seed, replicates=replicates, stepper=reference_steps)

    def compiled_oracle(self, *, seed: int, replicates: range, rotation_equivariant: bool) -> LogisticOracle:
        """Return the oracle with compiled steps and measures; coordinates are those of the problem in any case."""
        from fltheory.logistic.compiled import CompiledSteps
        from fltheory.logistic.measures import CompiledMeasures

        if "stepper" not in self._solved:
            self._solved["stepper"] = CompiledSteps(self.train.features)
        stepper: CompiledSteps = self._solved["stepper"]
        measurer = partial(CompiledMeasures, features=stepper.features)
        return LogisticOracle(self, seed=seed, replicates=replicates, stepper=stepper, measurer=measurer)

    def _loss(self, own: slice, per_sample: Floats, linear: Floats | None = None) -> LogisticLoss:
        return LogisticLoss(
            features=self.train.features[own],
            targets=self.label_law(own),
            weights=per_sample,
            l2=self.l2,
            linear=linear,
        )

    def _solve(self, key: int | bytes, make: Callable[[], LogisticLoss]) -> LogisticObjective:
        if key not in self._solved:
            loss = make()
            w_star = minimise(loss, np.zeros((1, self.dim)))[0]
            self._solved[key] = LogisticObjective(loss=loss, w_star=arguments.frozen(w_star))
        solved: LogisticObjective = self._solved[key]
        return solved
