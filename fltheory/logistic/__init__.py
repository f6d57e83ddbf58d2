"""Federated logistic regression: data generators, the problem, its oracles and its exact minimiser."""

from fltheory.logistic.arrays import logistic_from_arrays, logistic_from_file, softmax_from_arrays, softmax_from_file
from fltheory.logistic.controlled import controlled_logistic
from fltheory.logistic.problem import LogisticObjective, LogisticProblem
from fltheory.logistic.samples import Samples
from fltheory.logistic.synthetic import logistic_clients, synthetic

__all__ = [
    "LogisticObjective",
    "LogisticProblem",
    "Samples",
    "controlled_logistic",
    "logistic_clients",
    "logistic_from_arrays",
    "logistic_from_file",
    "softmax_from_arrays",
    "softmax_from_file",
    "synthetic",
]
