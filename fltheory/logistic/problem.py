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
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np

from fltheory import checks
from fltheory.checks import Floats
from fltheory.errors import InvalidParameter, NotApplicable
from fltheory.logistic.model import LogisticLoss, in_blocks, one_hot, probabilities, reference_measures, scores
from fltheory.logistic.oracle import LogisticOracle
from fltheory.logistic.samples import Samples
from fltheory.logistic.solve import minimise
from fltheory.logistic.steps import reference_steps
from fltheory.problem import Constant, Measures, Origin


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class LogisticObjective:
    """An expected loss with its minimiser.

    Parameters
    ----------
    loss
        The function.
    w_star
        Its minimiser, shape ``(dim,)``, with a gradient of norm at most 1e-12.
    judge
        Computes :meth:`measure` in place of array code.
    """

    loss: LogisticLoss
    w_star: Floats
    judge: Callable[[Floats], Measures] | None = None

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
        return reference_measures(self.loss, self.w_star, w) if self.judge is None else self.judge(w)

    @property
    def _cost(self) -> int:
        return int(self.loss.targets.size)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
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
    test
        Held-out samples for :meth:`accuracy`.
    """

    packages: ClassVar[tuple[str, ...]] = ()

    train: Samples
    num_classes: int
    l2: float
    binary: bool = False
    batch_size: int | None = None
    label_drift: float = 0.0
    test: Samples | None = None
    _solved: dict[Any, Any] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        owner = "LogisticProblem"
        checks.integer(owner, "num_classes", self.num_classes, low=2)
        remedy = "separable data have no minimiser without it"
        object.__setattr__(self, "l2", checks.real(owner, "l2", self.l2, low=0, open_low=True, remedy=remedy))
        if checks.boolean(owner, "binary", self.binary) and self.num_classes != 2:
            raise checks.fail(owner, "num_classes", "2 if binary", self.num_classes, "set binary to false")
        if self.batch_size is not None:
            checks.integer(owner, "batch_size", self.batch_size, low=1, remedy="leave it out for full gradients")
        object.__setattr__(self, "label_drift", checks.real(owner, "label_drift", self.label_drift, low=0, high=1))
        for name, samples in (("train", self.train), ("test", self.test)):
            if samples is not None and samples.labels.size and samples.labels.max() >= self.num_classes:
                raise InvalidParameter(
                    f"{owner}.{name} must have labels in 0 .. {self.num_classes - 1}, got {samples.labels.max()}; "
                    "raise num_classes or renumber the labels"
                )
        if np.any(self.train.counts == 0):
            empty = int(np.argmin(self.train.counts))
            raise InvalidParameter(f"{owner}.train must have a sample for every client, got none for client {empty}")
        if self.test is not None and self.test.features.shape[1] != self.train.features.shape[1]:
            raise InvalidParameter(
                f"{owner}.test must have {self.train.features.shape[1]} features like train, "
                f"got {self.test.features.shape[1]}"
            )

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
            self._solved["smoothness"] = checks.frozen(factor * np.array(norms) / self.sample_counts + self.l2)
        smoothness: Floats = self._solved["smoothness"]
        return smoothness

    def objective(self, p: Floats | None = None) -> LogisticObjective:
        """Return the expected objective with client weights ``p`` (default: shares of the samples)."""
        if p is None:
            p = self.weights
        p = checks.probabilities("LogisticProblem", "p", p, shape=(self.num_clients,))
        per_sample = np.repeat(p / self.sample_counts, self.train.counts)
        return self._solve(p.tobytes(), slice(None), per_sample)

    def client_objective(self, client: int) -> LogisticObjective:
        """Return the expected objective of one client alone."""
        own = self.train.rows(client)
        count = own.stop - own.start
        return self._solve(client, own, np.full(count, 1.0 / count))

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

        ``mu``, ``L``, ``client_L``, ``sigma_sq``, ``drift_sq``, ``w_star``, ``f_star``, ``client_f_star``, ``gamma``
        (:math:`\Gamma_k = f_k(w^*) - f_k^*`) and ``epsilon`` (:math:`\max_{i,k}\|H_i(w^*) - H_k(w^*)\|`).
        """
        if "constants" not in self._solved:
            self._solved["constants"] = self._constants()
        constants: dict[str, Constant] = self._solved["constants"]
        return constants

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
        judge = partial(CompiledMeasures, features=stepper.features)
        return LogisticOracle(self, seed=seed, replicates=replicates, stepper=stepper, judge=judge)

    def _targets(self, own: slice) -> Floats:
        """Return the law of the labels of a round."""
        sharp = one_hot(self.train.labels[own], self.rows)
        return (1.0 - self.label_drift) * sharp + self.label_drift / self.num_classes

    def _solve(self, key: int | bytes, own: slice, per_sample: Floats) -> LogisticObjective:
        if key not in self._solved:
            loss = LogisticLoss(
                features=self.train.features[own], targets=self._targets(own), weights=per_sample, l2=self.l2
            )
            w_star = minimise(loss, np.zeros((1, self.dim)))[0]
            self._solved[key] = LogisticObjective(loss=loss, w_star=checks.frozen(w_star))
        solved: LogisticObjective = self._solved[key]
        return solved

    def _constants(self) -> dict[str, Constant]:
        objective = self.objective()
        w_star = objective.w_star
        clients = [self.client_objective(i) for i in range(self.num_clients)]
        sigma_sq, drift_sq = self._variances(w_star)
        computed, measured = Origin.COMPUTED, Origin.MEASURED
        smooth = "attained at the zero model" if self.binary else "from the bound 1/2 on the softmax Hessian"
        return {
            "mu": Constant(self.l2, computed, "the l2 regularisation"),
            "L": Constant(float(self.client_smoothness.max()), computed, f"largest over the clients; {smooth}"),
            "client_L": Constant(self.client_smoothness, computed, f"per client; {smooth}"),
            "sigma_sq": Constant(
                checks.frozen(sigma_sq),
                measured if self.batch_size else computed,
                "variance of a minibatch gradient at w_star, averaged over the label drift; per client"
                if self.batch_size
                else "full gradients have no noise",
            ),
            "drift_sq": Constant(
                checks.frozen(drift_sq), computed, "variance of a round's gradient under label drift, at any model"
            ),
            "w_star": Constant(w_star, computed),
            "f_star": Constant(objective.f_star, computed),
            "client_f_star": Constant(checks.frozen([client.f_star for client in clients]), computed),
            "gamma": Constant(
                checks.frozen([client.gap(w_star) for client in clients]), computed, "f_k(w_star) - f_k*, per client"
            ),
            "epsilon": Constant(
                self._dissimilarity(w_star), measured, "largest difference of two clients' Hessians at w_star"
            ),
        }

    def _variances(self, w: Floats) -> tuple[Floats, Floats]:
        r"""Return the variances of a minibatch gradient at ``w`` and of a round's gradient, per client.

        With per-sample gradients :math:`g_j = (p_j - e_{y_j}) \otimes x_j`, independent over ``j`` under the drift,
        the mean over rounds of :math:`\frac1n\sum_j\|g_j\|^2 - \|\frac1n\sum_j g_j\|^2`.
        """
        sigma_sq, drift_sq = np.zeros(self.num_clients), np.zeros(self.num_clients)
        for i in range(self.num_clients):
            own = self.train.rows(i)
            features, law = self.train.features[own], self._targets(own)
            lengths = (features**2).sum(axis=1)
            residuals = probabilities(scores(features, w)) - law
            scatter = lengths * (law * (1.0 - law)).sum(axis=1)
            drift_sq[i] = scatter.mean() / len(lengths)
            if self.batch_size:
                mean = residuals.T @ features / len(lengths)
                within = max(0.0, float((lengths * (residuals**2).sum(axis=1)).mean() - (mean**2).sum()))
                sigma_sq[i] = (within + (1.0 - 1.0 / len(lengths)) * scatter.mean()) / self.batch_size
        return sigma_sq, drift_sq

    def _dissimilarity(self, w: Floats) -> float:
        hessians = [self.client_objective(i).loss.hessian(w) for i in range(self.num_clients)]
        largest = 0.0
        for i, first in enumerate(hessians):
            for second in hessians[:i]:
                largest = max(largest, _spectral_norm(first - second))
        return largest


def _spectral_norm(symmetric: Floats) -> float:
    """Return the largest absolute eigenvalue; Lanczos where a full decomposition would be slow."""
    if len(symmetric) <= 64:
        return float(np.abs(np.linalg.eigvalsh(symmetric)).max())
    from scipy.sparse.linalg import eigsh

    # A fixed first vector keeps the result the same in every run.
    first = np.cos(np.arange(len(symmetric)))
    return float(abs(eigsh(symmetric, k=1, which="LM", v0=first, return_eigenvectors=False)[0]))
