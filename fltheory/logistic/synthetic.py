r"""Generators of logistic problems: SYNTHETIC(alpha, beta) and a small binary family.

**SYNTHETIC.** For client ``k``: :math:`u_k` and :math:`B_k` are centred normal with spread ``alpha`` and ``beta``;
the entries of :math:`W_k` (features x classes) and :math:`b_k` are :math:`N(u_k, 1)`; the entries of the feature mean
:math:`v_k` are :math:`N(B_k, 1)`; then

.. math:: x \sim N\bigl(v_k, \operatorname{diag}(j^{-1.2})_{j=1..F}\bigr), \qquad
          y = \arg\max_c\,(W_k^\top x + b_k)_c .

Draws happen in the published order: sample counts, all :math:`u`, all :math:`B`, all :math:`v`, then per client
:math:`W, b, x`. The papers write ``alpha`` and ``beta`` in the place of a variance, the published code passes them as
standard deviations: ``convention`` chooses, and it matters for values other than 0 and 1. The setting (0, 0) is not
homogeneous, since :math:`W_k` and :math:`v_k` still differ; ``iid=True`` is: one :math:`W, b` with :math:`N(0, 1)`
entries for all, and :math:`v_k = 0`. The original sets no seed, so its data sets cannot be reproduced; its law can.

Sources: T. Li et al., *Federated optimization in heterogeneous networks*, MLSys 2020, and its public generator; Pareto
sizes as in Ruan et al., *Towards flexible device participation in federated learning*, AISTATS 2021.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fltheory._internal import arguments, memory, seeding
from fltheory._internal.arguments import Floats, Ints
from fltheory._internal.seeding import Purpose
from fltheory.datasets.sizes import pareto
from fltheory.errors import InvalidParameter
from fltheory.logistic.model import probabilities
from fltheory.logistic.problem import LogisticProblem
from fltheory.logistic.samples import Samples


def synthetic(
    *,
    alpha: float,
    beta: float,
    num_clients: int = 30,
    num_features: int = 60,
    num_classes: int = 10,
    sizes: str = "lognormal",
    min_size: int = 50,
    max_size: int | None = None,
    convention: str = "code",
    iid: bool = False,
    intercept: bool = True,
    test_share: float = 0.1,
    l2: float = 1e-3,
    batch_size: int | None = None,
    label_drift: float = 0.0,
    seed: int,
) -> LogisticProblem:
    r"""Return a softmax problem on SYNTHETIC(alpha, beta) data.

    Parameters
    ----------
    alpha, beta
        Spread of the clients' models and of their feature means.
    num_clients, num_features, num_classes
        Sizes of the instance; the model also has an intercept unless ``intercept`` is false.
    sizes
        Law of the samples per client: ``lognormal`` is ``floor(LogNormal(4, 2)) + min_size``; ``pareto`` is
        ``floor(min_size * U**-2)``, Type I with index 0.5; ``equal`` is ``min_size``.
    min_size, max_size
        Fewest samples of a client, and a cap. Pareto sizes need a cap, since index 0.5 has no mean.
    convention
        ``code``: ``alpha`` and ``beta`` are standard deviations; ``paper``: variances.
    iid
        Same distribution for all clients.
    intercept
        Append a feature that is always 1.
    test_share
        Share of each client's samples, after shuffling, that goes to the test set.
    l2, batch_size, label_drift
        See :class:`~fltheory.logistic.problem.LogisticProblem`.
    seed
        Seed of the instance.
    """
    owner = "synthetic"
    alpha, beta = arguments.real(owner, "alpha", alpha, low=0), arguments.real(owner, "beta", beta, low=0)
    arguments.integer(owner, "num_clients", num_clients, low=1)
    arguments.integer(owner, "num_features", num_features, low=1)
    arguments.integer(owner, "num_classes", num_classes, low=2)
    arguments.boolean(owner, "iid", iid)
    arguments.boolean(owner, "intercept", intercept)
    test_share = arguments.real(owner, "test_share", test_share, low=0, high=1, open_high=True)
    if arguments.choice(owner, "convention", convention, ("code", "paper")) == "paper":
        alpha, beta = math.sqrt(alpha), math.sqrt(beta)

    of_a_client = ("min_size", min_size)
    _require_memory(owner, num_clients, num_clients, num_features, of_a_client)
    seed = arguments.integer(owner, "seed", seed, low=0)
    rng = seeding.generator(seed, Purpose.INSTANCE)
    counts = _client_sizes(rng, num_clients, sizes, min_size, max_size)
    _require_memory(owner, num_clients, int(counts.sum()), num_features, of_a_client)
    _require_models(owner, num_features, num_classes, int(counts.max()))
    u = rng.normal(0.0, alpha, num_clients)
    B = rng.normal(0.0, beta, num_clients)
    v = np.zeros((num_clients, num_features))
    if not iid:
        v = rng.normal(B[:, None], 1.0, (num_clients, num_features))
    deviations = np.arange(1, num_features + 1) ** -0.6
    W, b = np.empty((num_features, num_classes)), np.empty(num_classes)
    features, labels = [], []
    for k in range(num_clients):
        if not iid or k == 0:
            centre = 0.0 if iid else u[k]
            W = rng.normal(centre, 1.0, (num_features, num_classes))
            b = rng.normal(centre, 1.0, num_classes)
        x = v[k] + deviations * rng.standard_normal((counts[k], num_features))
        features.append(x)
        labels.append(np.argmax(x @ W + b, axis=1))
    train, test = _split(features, labels, test_share, seed)
    return LogisticProblem(
        train=train.with_intercept() if intercept else train,
        test=test.with_intercept() if intercept else test,
        num_classes=num_classes,
        l2=l2,
        batch_size=batch_size,
        label_drift=label_drift,
    )


def logistic_clients(
    *,
    num_clients: int,
    num_features: int,
    samples: int | Sequence[int],
    signal: float = 2.0,
    feature_shift: float = 0.0,
    label_shift: float = 0.0,
    intercept: bool = False,
    l2: float = 0.1,
    batch_size: int | None = None,
    label_drift: float = 0.0,
    seed: int,
) -> LogisticProblem:
    r"""Return a binary problem whose clients differ as much as asked.

    Client ``i`` draws :math:`x \sim N(m_i, I)` with :math:`\|m_i\|` = ``feature_shift`` in a random direction, and
    labels with log-odds :math:`\langle w, x\rangle + b_i`, where :math:`\|w\|` = ``signal`` and the offsets
    :math:`b_i` are equally spaced on [-``label_shift``, ``label_shift``] (zero for a single client).

    Parameters
    ----------
    num_clients, num_features
        Sizes of the instance.
    samples
        Samples per client: one number for all, or one per client.
    signal, feature_shift, label_shift
        As above.
    intercept
        Append a feature that is always 1.
    l2, batch_size, label_drift
        See :class:`~fltheory.logistic.problem.LogisticProblem`.
    seed
        Seed of the instance.
    """
    owner = "logistic_clients"
    arguments.integer(owner, "num_clients", num_clients, low=1)
    arguments.integer(owner, "num_features", num_features, low=1)
    if not isinstance(samples, int | Sequence | np.ndarray):
        raise arguments.fail(owner, "samples", "an integer >= 1, or one per client", samples)
    of_a_client = ("samples", samples if isinstance(samples, int) else 1)
    _require_memory(owner, num_clients, num_clients, num_features, of_a_client)
    counts = [samples] * num_clients if isinstance(samples, int) else list(samples)
    if len(counts) != num_clients:
        raise InvalidParameter(f"{owner}.samples must have one entry per client ({num_clients}), got {len(counts)}")
    for count in counts:
        arguments.integer(owner, "samples", count, low=1)
    _require_memory(owner, num_clients, sum(counts), num_features, of_a_client)
    signal = arguments.real(owner, "signal", signal, low=0)
    feature_shift = arguments.real(owner, "feature_shift", feature_shift, low=0)
    label_shift = arguments.real(owner, "label_shift", label_shift, low=0)

    seed = arguments.integer(owner, "seed", seed, low=0)
    rng = seeding.generator(seed, Purpose.INSTANCE)
    w = signal * _direction(rng, num_features)
    offsets = np.linspace(-label_shift, label_shift, num_clients) if num_clients > 1 else np.zeros(1)
    features, labels = [], []
    for i, count in enumerate(counts):
        x = feature_shift * _direction(rng, num_features) + rng.standard_normal((count, num_features))
        chance = probabilities((x @ w + offsets[i])[:, None])[:, 0]
        features.append(x)
        labels.append((rng.random(count) < chance).astype(np.int64))
    train = Samples.from_clients(features, labels)
    return LogisticProblem(
        train=train.with_intercept() if arguments.boolean(owner, "intercept", intercept) else train,
        num_classes=2,
        binary=True,
        l2=l2,
        batch_size=batch_size,
        label_drift=label_drift,
    )


def _require_memory(owner: str, num_clients: int, samples: int, num_features: int, per_client: tuple[str, int]) -> None:
    """Raise if samples do not fit into memory thrice: as drawn, put together, and with an intercept."""
    memory.require_product(
        owner,
        {"num_clients": num_clients, "num_features": num_features, per_client[0]: per_client[1]},
        3 * 8 * samples * (num_features + 1),
        f"{samples} samples with num_features={num_features}",
    )


def _require_models(owner: str, num_features: int, num_classes: int, samples: int) -> None:
    """Raise if a model per client, drawn one after the other, or the scores of the classes, do not fit into memory."""
    memory.require_product(
        owner,
        {"num_classes": num_classes, "num_features": num_features},
        8 * num_classes * (4 * (num_features + 1) + samples),
        f"models of num_classes={num_classes} with num_features={num_features}",
    )


def _client_sizes(rng: np.random.Generator, num_clients: int, sizes: str, min_size: int, max_size: int | None) -> Ints:
    owner = "synthetic"
    arguments.choice(owner, "sizes", sizes, ("lognormal", "pareto", "equal"))
    arguments.integer(owner, "min_size", min_size, low=1)
    if max_size is not None:
        arguments.integer(owner, "max_size", max_size, low=min_size)
    if sizes == "equal":
        return np.full(num_clients, min_size)
    if sizes == "lognormal":
        drawn = np.floor(rng.lognormal(4.0, 2.0, num_clients)) + min_size
    elif max_size is None:
        raise arguments.fail(owner, "max_size", "given for Pareto sizes", None, "their index 0.5 has no mean")
    else:
        return pareto(rng, num_clients, min_size, max_size)
    cap = math.inf if max_size is None else max_size
    return np.asarray(np.minimum(drawn, cap), dtype=np.int64)


def _split(features: list[Floats], labels: list[Ints], test_share: float, seed: int) -> tuple[Samples, Samples]:
    """Shuffle every client's samples and part them into train and test; a client keeps at least one to train on."""
    rng = seeding.generator(seed, Purpose.INSTANCE, 1)
    parts: tuple[list[Floats], ...] = ([], [])
    classes: tuple[list[Ints], ...] = ([], [])
    for x, y in zip(features, labels, strict=True):
        order = rng.permutation(len(y))
        kept = max(1, int((1.0 - test_share) * len(y) + 1e-9))
        for side, rows in enumerate((order[:kept], order[kept:])):
            parts[side].append(x[rows])
            classes[side].append(y[rows])
    return Samples.from_clients(parts[0], classes[0]), Samples.from_clients(parts[1], classes[1])


def _direction(rng: np.random.Generator, dim: int) -> Floats:
    drawn = rng.standard_normal(dim)
    return np.asarray(drawn / np.linalg.norm(drawn))
