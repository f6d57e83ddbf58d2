"""How large each job is: as published in the tables, and small enough to try out."""

from __future__ import annotations

from dataclasses import dataclass

SINGLE = {"continual"}
"""Algorithms for one client; Job A gives them its problem with one client, which has no drift of its own."""


@dataclass(frozen=True, kw_only=True)
class QuadraticSize:
    """Job Q: noisy quadratic, dense Hessian with eigenvalues from 1 to 20."""

    dim: int = 50
    num_clients: int = 10
    local_steps: int = 10
    rounds: int = 200
    replicates: int = 256
    rate: float = 0.01


@dataclass(frozen=True, kw_only=True)
class SoftmaxSize:
    """Job L: softmax regression, minibatches drawn with replacement."""

    num_clients: int = 30
    samples: int = 100
    features: int = 60
    classes: int = 10
    batch: int = 20
    local_steps: int = 25
    rounds: int = 100
    replicates: int = 16
    rate: float = 0.01
    l2: float = 1e-3


@dataclass(frozen=True, kw_only=True)
class TinySize:
    """Job P: binary logistic regression, one replicate.

    ``rounds`` is how many rounds Flower gets, after which all tools are compared.
    """

    num_clients: int = 20
    samples: int = 100
    features: int = 30
    batch: int = 10
    local_steps: int = 10
    rounds: int = 10
    rate: float = 0.1
    l2: float = 1e-3


@dataclass(frozen=True, kw_only=True)
class NetworkSize:
    """Job D: two hidden layers on random images of MNIST's shape, single precision."""

    num_clients: int = 10
    samples: int = 600
    tests: int = 2000
    side: int = 28
    classes: int = 10
    hidden: tuple[int, ...] = (200, 200)
    batch: int = 10
    local_steps: int = 60
    rounds: int = 3
    rate: float = 0.05


def quadratic(quick: bool) -> QuadraticSize:
    """Return the size of Job Q; the quick one has half of the rounds and an eighth of the replicates."""
    return QuadraticSize(rounds=100, replicates=32) if quick else QuadraticSize()


def softmax(quick: bool) -> SoftmaxSize:
    """Return the size of Job L; the quick one has a tenth of the rounds and half of the replicates."""
    return SoftmaxSize(rounds=10, replicates=8) if quick else SoftmaxSize()


def tiny(quick: bool) -> TinySize:
    """Return the size of Job P; the quick one has fewer rounds."""
    return TinySize(rounds=4) if quick else TinySize()


def network(quick: bool) -> NetworkSize:
    """Return the size of Job D; the quick one has fewer samples, steps and rounds."""
    return NetworkSize(samples=60, tests=200, local_steps=6, rounds=2) if quick else NetworkSize()
