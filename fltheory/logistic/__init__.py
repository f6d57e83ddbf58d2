"""Federated logistic regression: data generators, the problem, its oracles and its exact minimiser."""

from fltheory.logistic.problem import LogisticObjective, LogisticProblem
from fltheory.logistic.samples import Samples
from fltheory.logistic.synthetic import logistic_clients, synthetic

__all__ = ["LogisticObjective", "LogisticProblem", "Samples", "logistic_clients", "synthetic"]
