r"""Federated training of a network: each client has its own samples, the objective is their weighted mean loss.

.. math:: f_i(w) = \frac{1}{n_i}\sum_j \ell(w; x_{ij}, y_{ij}) + \frac\lambda2\|w\|^2,
          \qquad f = \sum_i p_i f_i, \quad p_i = n_i/n,

with the cross-entropy :math:`\ell` of the network's scores. Nobody knows a minimiser of it, nor constants ``mu``, ``L``
or ``Gamma``: theorems have nothing to say here, and models are compared by their training loss and their test accuracy.

Evaluating all samples after every round would take longer than the rounds. So the loss is that of the first samples of
every client, in proportion to their numbers and weighted by ``p``, and the accuracy that of the first test samples;
``evaluated`` says how many. The generators shuffle, so that the first ones are a fair sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats, Ints
from fltheory.deep.examples import Examples
from fltheory.deep.networks import Network
from fltheory.errors import InvalidParameter, NotApplicable
from fltheory.problems import display
from fltheory.problems.problem import Constant, LossMeasures

if TYPE_CHECKING:
    from fltheory.deep.bench import Bench
    from fltheory.deep.flat import FlatNetwork
    from fltheory.deep.oracle import DeepOracle

LEAST_OWN = 50
"""Fewest samples of a client, if it has them, on which its own model is evaluated."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class DeepProblem:
    """A network and the clients' samples.

    Parameters
    ----------
    network
        What is trained.
    train
        The clients' samples.
    test
        Held-out samples; whose they are is of no importance.
    num_classes
        Number of classes.
    own_test
        Rows of ``test`` on which each client's own model is evaluated, one vector per client; without them personal
        models have no accuracy.
    l2
        Weight of the regulariser.
    batch_size
        Samples per local step, drawn with replacement; ``None`` uses all samples of the client.
    precision
        ``single`` or ``double``.
    evaluated
        Most samples on which a model is evaluated, of train and of test.
    fisher_samples
        Most samples of a client from which it computes Fisher information: its first ones; ``None`` uses all.
    seed
        Seed of the first model.
    origin
        Where the samples come from and how they were split, in words; for the record only.
    """

    packages: ClassVar[tuple[str, ...]] = ("torch",)

    network: Network
    train: Examples
    test: Examples
    num_classes: int
    own_test: tuple[Ints, ...] = ()
    l2: float = 0.0
    batch_size: int | None = None
    precision: str = "single"
    evaluated: int = 2000
    fisher_samples: int | None = None
    seed: int = 0
    origin: str = ""
    _kept: dict[str, Any] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        owner = "DeepProblem"
        require_torch()
        arguments.integer(owner, "num_classes", self.num_classes, low=2)
        object.__setattr__(self, "l2", arguments.real(owner, "l2", self.l2, low=0))
        if self.batch_size is not None:
            arguments.integer(owner, "batch_size", self.batch_size, low=1, remedy="leave it out for full gradients")
        arguments.choice(owner, "precision", self.precision, ("single", "double"))
        arguments.integer(owner, "evaluated", self.evaluated, low=1)
        if self.fisher_samples is not None:
            arguments.integer(
                owner, "fisher_samples", self.fisher_samples, low=1, remedy="leave it out for all samples"
            )
        arguments.integer(owner, "seed", self.seed, low=0)
        for name, examples in (("train", self.train), ("test", self.test)):
            if examples.labels.max() >= self.num_classes:
                raise InvalidParameter(
                    f"{owner}.{name} must have labels in 0 .. {self.num_classes - 1}, got {examples.labels.max()}; "
                    "raise num_classes or renumber the labels"
                )
        if self.test.shape != self.train.shape:
            raise InvalidParameter(
                f"{owner}.test must have inputs of shape {self.train.shape} like train, got {self.test.shape}"
            )
        if self.own_test and len(self.own_test) != self.num_clients:
            raise InvalidParameter(
                f"{owner}.own_test must have one vector of rows for each of {self.num_clients} clients, "
                f"got {len(self.own_test)}"
            )
        for rows in self.own_test:
            if not rows.size or rows.min() < 0 or rows.max() >= len(self.test.labels):
                raise arguments.fail(owner, "own_test", f"rows in 0 .. {len(self.test.labels) - 1}, one or more", rows)
        self._require_fit()

    def __repr__(self) -> str:
        facts = {"network": self.network, "num_clients": self.num_clients, "dim": self.dim}
        facts |= {"samples": len(self.train.labels), "classes": self.num_classes, "l2": self.l2}
        return display.one_line(self, facts | ({"batch_size": self.batch_size} if self.batch_size else {}))

    def _repr_html_(self) -> str:
        return display.table(repr(self), self.constants)

    @property
    def num_clients(self) -> int:
        """Number of clients."""
        return self.train.num_clients

    @property
    def dim(self) -> int:
        """Number of parameters of the network."""
        return len(self.start)

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
        """The first model, as PyTorch draws it for ``seed``."""
        if "start" not in self._kept:
            from fltheory.deep.flat import FlatNetwork

            network = FlatNetwork(self.module(), "single")
            self._kept["start"] = arguments.frozen(network.w.double().numpy())
        start: Floats = self._kept["start"]
        return start

    def module(self) -> Any:
        """Return a new module with the parameters that ``seed`` stands for; the global generator is left alone."""
        import torch

        with torch.random.fork_rng(devices=()):
            torch.manual_seed(self.seed)
            return self.network.build(self.train.shape, self.num_classes)

    def constants(self) -> Mapping[str, Constant]:
        """Return nothing: the theory's constants of a network are not known."""
        return {}

    def objective(self, p: Floats | None = None) -> DeepObjective:
        """Return the objective with client weights ``p`` (default: shares of the samples)."""
        return self.objective_on(self._bench(reference=False), self.weights if p is None else p)

    def reference_oracle(self, *, seed: int, replicates: range) -> DeepOracle:
        """Return the oracle with obvious steps in double precision."""
        from fltheory.deep.oracle import DeepOracle

        return DeepOracle(self, self._bench(reference=True), seed=seed, replicates=replicates)

    def compiled_oracle(self, *, seed: int, replicates: range, rotation_equivariant: bool) -> DeepOracle:
        """Return the oracle with quick steps; coordinates are those of the problem in any case."""
        from fltheory.deep.oracle import DeepOracle

        return DeepOracle(self, self._bench(reference=False), seed=seed, replicates=replicates)

    def objective_on(self, bench: Bench, p: Floats) -> DeepObjective:
        """Return the objective with client weights ``p``, computed on a bench."""
        p = arguments.probabilities("DeepProblem", "p", p, shape=(self.num_clients,))
        return DeepObjective(problem=self, bench=bench, p=p)

    def client_measures(self, bench: Bench, models: Floats) -> Mapping[str, Floats]:
        """Return loss and accuracy of personal models ``(replicates, clients, dim)``, by the name of the curve."""
        most = max(self.evaluated // self.num_clients, LEAST_OWN)
        found = {"personal_loss": np.empty(models.shape[:2])}
        if self.own_test:
            found["personal_accuracy"] = np.empty(models.shape[:2])

        def one(network: FlatNetwork, place: tuple[int, ...]) -> None:
            network.w.copy_(bench.tensor(models[place]))
            own = self.train.rows(place[1])
            rows = np.arange(own.start, min(own.stop, own.start + most))
            losses, _ = network.measure(bench.train.inputs, bench.train.labels, rows)
            found["personal_loss"][place] = losses.mean() + self.ridge(models[place])
            if self.own_test:
                _, hits = network.measure(bench.test.inputs, bench.test.labels, self.own_test[place[1]])
                found["personal_accuracy"][place] = hits.mean()

        bench.each(one, np.ndindex(*models.shape[:2]))
        return found

    def ridge(self, w: Floats) -> float:
        """Return the regulariser of a model."""
        with np.errstate(over="ignore", invalid="ignore"):  # a thread of its own does not know what the engine ignores
            return 0.5 * self.l2 * float(w @ w) if self.l2 else 0.0

    def _require_fit(self) -> None:
        """Raise if the network does not turn inputs of this shape and kind into a score for every class."""
        import torch

        inputs = self.train.inputs
        kind, largest = (torch.float32, 0) if inputs.dtype.kind == "f" else (torch.int64, int(inputs.max()))
        try:
            with torch.no_grad():
                found = str(tuple(self.module()(torch.full((2, *self.train.shape), largest, dtype=kind)).shape))
        except (RuntimeError, IndexError) as error:
            found = str(error).splitlines()[0]
        if found != (wanted := str((2, self.num_classes))):
            raise InvalidParameter(
                f"DeepProblem.network must turn two inputs of shape {self.train.shape} "
                f"({'real numbers' if kind == torch.float32 else f'symbols up to {largest}'}) into scores of shape "
                f"{wanted}, got {found} of {self.network}; choose another network, or other sizes of its layers"
            )

    def _bench(self, *, reference: bool) -> Bench:
        name = "reference" if reference else "quick"
        if name not in self._kept:
            from fltheory.deep.bench import Bench
            from fltheory.deep.walks import reference_walk, walk

            precision, walker = ("double", reference_walk) if reference else (self.precision, walk)
            self._kept[name] = Bench(self, precision, walker)
        bench: Bench = self._kept[name]
        return bench


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class DeepObjective:
    """The loss of a network for one choice of client weights, without a known minimiser.

    Parameters
    ----------
    problem, bench
        What is evaluated, and where.
    p
        Client weights.
    """

    problem: DeepProblem
    bench: Bench
    p: Floats

    @property
    def w_star(self) -> Floats:
        """Raise: a minimiser is not known."""
        raise _unknown("a minimiser")

    @property
    def f_star(self) -> float:
        """Raise: the minimum is not known."""
        raise _unknown("the minimum")

    def gap(self, w: Floats) -> Floats:
        """Raise: the gap is not known."""
        raise _unknown("the gap")

    def gradient(self, w: Floats) -> Floats:
        """Return the gradient at models ``(..., dim)``, over all samples."""
        problem, bench = self.problem, self.bench
        models = np.reshape(w, (-1, problem.dim))

        def one(network: FlatNetwork, place: tuple[int, int]) -> Floats:
            network.w.copy_(bench.tensor(models[place[0]]))
            own = problem.train.rows(place[1])
            slope = network.gradient(bench.train.inputs[own], bench.train.labels[own], problem.l2)
            return np.asarray(slope.numpy(), dtype=np.float64)

        parts = bench.each(one, np.ndindex(len(models), problem.num_clients))
        slopes = np.reshape(parts, (len(models), problem.num_clients, problem.dim))
        return np.reshape(np.einsum("i,mid->md", self.p, slopes), w.shape)

    def measure(self, w: Floats) -> LossMeasures:
        """Return training loss and test accuracy of models ``(..., dim)``."""
        problem, bench = self.problem, self.bench
        models = np.reshape(w, (-1, problem.dim))
        rows, weights = self._evaluated()
        tests = np.arange(min(len(problem.test.labels), problem.evaluated))

        def one(network: FlatNetwork, model: Floats) -> tuple[float, float]:
            network.w.copy_(bench.tensor(model))
            losses, _ = network.measure(bench.train.inputs, bench.train.labels, rows)
            _, hits = network.measure(bench.test.inputs, bench.test.labels, tests)
            return float(weights @ losses) + problem.ridge(model), float(hits.mean())

        loss, accuracy = np.transpose(bench.each(one, models))
        return LossMeasures(np.reshape(loss, w.shape[:-1]), np.reshape(accuracy, w.shape[:-1]))

    def _evaluated(self) -> tuple[Ints, Floats]:
        """Return the rows on which the loss is measured, and their weights."""
        train = self.problem.train
        share = min(1.0, self.problem.evaluated / len(train.labels))
        counts = np.ceil(share * train.counts).astype(np.int64)
        rows = [np.arange(first, first + count) for first, count in zip(train.offsets[:-1], counts, strict=True)]
        return np.concatenate(rows), np.repeat(self.p / counts, counts)


def require_torch() -> None:
    """Raise with a remedy if PyTorch is not installed."""
    from importlib.util import find_spec

    if find_spec("torch") is None:
        raise NotApplicable("networks need PyTorch; install it with: pip install --editable '.[torch]'")


def _unknown(what: str) -> NotApplicable:
    return NotApplicable(f"{what} of a network's loss is not known; compare models by loss and accuracy")
