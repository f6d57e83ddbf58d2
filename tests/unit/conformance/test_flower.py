"""Flower's own strategies and NumPy clients, in process."""

import warnings

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # Flower's pin of typer against newer releases of click
    pytest.importorskip("flwr")
    from flwr.server import strategy as shipped

from fltheory.conformance import Conclusion, UserCodeError, conform
from fltheory.conformance.flower import LocalSGD, from_flower, initial_parameters

ALL = {"fraction_fit": 1.0, "min_fit_clients": 1, "min_evaluate_clients": 1, "min_available_clients": 1}


def adaptive(kind):
    def make(f):
        return kind(
            eta=f.server_rate,
            beta_1=f.parameters["beta_1"],
            beta_2=f.parameters["beta_2"],
            tau=f.parameters["tau"],
            initial_parameters=initial_parameters(f),
            **ALL,
        )

    return from_flower(make)


def fedavgm(f):
    return shipped.FedAvgM(
        server_learning_rate=f.server_rate,
        server_momentum=f.parameters["momentum"],
        initial_parameters=initial_parameters(f),
        **ALL,
    )


def test_averaging_strategies_conform():
    for make, algorithm, skip in [
        (lambda f: shipped.FedAvg(**ALL), "fedavg", ["server-rate"]),
        (lambda f: shipped.FedProx(proximal_mu=f.parameters["prox"], **ALL), "fedprox", ["server-rate"]),
        (fedavgm, "fedavgm", []),
    ]:
        assert conform(from_flower(make), algorithm, skip=skip).conclusion is Conclusion.CONFORMS


def test_adaptive_strategies_start_second_moments_at_zero():
    found = conform(adaptive(shipped.FedYogi), "fedopt", rule="yogi")
    assert found.conclusion is Conclusion.VARIANT
    assert [[v.name for v in match] for match in found.matches] == [["second-moment-starts-at-zero"]]


def test_the_median_is_not_the_mean():
    found = conform(from_flower(lambda f: shipped.FedMedian(**ALL)), "fedavg", skip=["server-rate"])
    assert found.conclusion is Conclusion.DIFFERS
    assert found.condition == "agrees with a single client; differs as soon as there are several clients"


def test_a_client_of_ones_own_may_keep_state_and_make_mistakes():
    class Forgetful(LocalSGD):
        """Goes on from its own last model."""

        last = None

        def fit(self, parameters, config):
            self.last = super().fit(parameters if self.last is None else self.last, config)[0]
            return self.last, int(self.federation.sample_counts[self.client]), {}

    found = conform(from_flower(lambda f: shipped.FedAvg(**ALL), Forgetful), "fedavg", skip=["server-rate"])
    assert [[v.name for v in match] for match in found.matches] == [["not-downloaded"]]


def test_noise_reaches_the_clients():
    found = conform(
        from_flower(lambda f: shipped.FedAvg(**ALL)), "fedavg", skip=["server-rate"], noisy=True, replicates=200
    )
    assert found.ok


def test_a_strategy_that_samples_is_told_how_to_ask_everybody():
    half = {**ALL, "fraction_fit": 0.5}
    with pytest.raises(UserCodeError, match=r"must ask all clients that are available.*fraction_fit=1\.0"):
        conform(from_flower(lambda f: shipped.FedAvg(**half)), "fedavg", skip=["server-rate"])
