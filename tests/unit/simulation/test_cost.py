"""Estimates before a run is begun: what is refused, which number is named, and that nothing is allocated first."""

import time
import tracemalloc

import pytest

import fltheory as fl
from fltheory._internal import memory
from fltheory.configuration.experiments import parse
from fltheory.simulation.cost import Cost, estimate

TEXT = """
rounds = {rounds}
replicates = {replicates}
engine = "{engine}"
[problem]
name = "noisy-quadratic"
dim = {dim}
num_clients = {clients}
rotated = {rotated}
[participation]
local_steps = {steps}
[[algorithm]]
name = "fedavg"
rate = 0.01
"""
USUAL = {"rounds": 10, "replicates": 4, "engine": "monte_carlo", "dim": 5, "clients": 4, "steps": 2, "rotated": "true"}


@pytest.fixture(autouse=True)
def computer(monkeypatch):
    """A computer with sixteen gigabytes."""
    monkeypatch.setattr(memory, "allowed", lambda: 12 * 10**9)


def experiment(**changes):
    values = {"rounds": 10, "local_steps": 2, **changes}
    return fl.Experiment(
        problem=fl.noisy_quadratic(dim=5, num_clients=4),
        algorithm=fl.FedAvg(),
        participation=fl.Participation(num_clients=4, local_steps=values["local_steps"]),
        rounds=values["rounds"],
        rate=0.01,
    )


REFUSED = {
    "rounds": ({"rounds": 10**9}, r"configuration:2: .*rounds must be at most about \d+, .*got rounds=1000000000"),
    "rounds, one replicate": ({"rounds": 9 * 10**8, "replicates": 1}, r"rounds must be .* got rounds=900000000"),
    "replicates": ({"replicates": 10**8}, r"configuration:3: .*replicates must be at most about \d+.* GB of memory"),
    "clients": ({"clients": 10**9}, r"configuration:8: .*num_clients must be .*160 GB .*got num_clients=1000000000"),
    "steps": ({"steps": 10**9}, r"configuration:11: .*local_steps must be at most about \d+.*got local_steps="),
    "rotated": ({"dim": 20_000}, r"configuration:7: .*dim must be at most about 11000.*12\.8 GB .*set reflections to"),
    "dim": ({"dim": 10**9, "rotated": "false"}, r"dim must be at most about \d+, .*got dim=1000000000"),
    "months": ({"rounds": 10**6, "steps": 10**8, "replicates": 10, "engine": "reference"}, r"since the run takes "),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_too_large_is_refused_before_anything_is_allocated(name):
    changes, message = REFUSED[name]
    text = TEXT.format(**USUAL | changes)
    parse(TEXT.format(**USUAL))  # everything is loaded
    begin = time.perf_counter()
    tracemalloc.start()
    try:
        with pytest.raises(fl.InvalidParameter, match=message):
            parse(text)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 10**7
    assert time.perf_counter() - begin < 10


@pytest.mark.parametrize(
    "changes", [{"dim": 2000, "rotated": "false"}, {"rounds": 10**6}, {"steps": 10**4}, {"clients": 10**5}]
)
def test_what_works_is_not_refused(changes):  # fmt: skip
    assert parse(TEXT.format(**USUAL | changes)).replicates == 4


def test_other_problems_are_refused_too():
    with pytest.raises(fl.InvalidParameter, match="set commuting to true"):
        fl.client_quadratics(dim=20_000, num_clients=5)
    with pytest.raises(fl.InvalidParameter, match=r"num_clients must be .* dense Hessians of num_clients=10000000"):
        fl.client_quadratics(dim=20, num_clients=10**7)
    with pytest.raises(fl.InvalidParameter, match=r"synthetic.num_clients must be .*samples with num_features=60"):
        fl.synthetic(alpha=1, beta=1, num_clients=10**5, seed=0)
    with pytest.raises(fl.InvalidParameter, match=r"logistic_clients.num_clients must be .*got num_clients=1000000000"):
        fl.logistic_clients(num_clients=10**9, num_features=5, samples=3, seed=0)


def test_python_is_told_as_well():
    with pytest.raises(fl.InvalidParameter, match=r"simulate.replicates must be .*, got replicates=100000000"):
        fl.simulate(experiment(), replicates=10**8)
    with pytest.raises(fl.InvalidParameter, match=r"simulate.local_steps must be .* days on one core"):
        fl.simulate(experiment(local_steps=10**8, rounds=10**7), replicates=4, collapse=False)


def test_the_number_that_is_named_is_enough():
    for changes in ({"rounds": 10**9}, {"replicates": 10**8}):
        with pytest.raises(fl.InvalidParameter) as caught:
            parse(TEXT.format(**USUAL | changes))
        (name,) = changes
        largest = int(str(caught.value).split("at most about ")[1].split(",")[0])
        assert 1 <= largest < changes[name]
        found = estimate(
            experiment(rounds=largest if name == "rounds" else 10),
            replicates=largest if name == "replicates" else 4,
            record=fl.Record(),
            every_step=False,
        )
        assert found.memory <= 12 * 10**9


def test_curves_that_are_kept_count():
    plain = estimate(experiment(), replicates=1000, record=fl.Record(), every_step=True)
    models = estimate(experiment(), replicates=1000, record=fl.Record(models=True), every_step=True)
    assert models.memory > plain.memory
    assert models.seconds == plain.seconds


@pytest.mark.parametrize("changes", [{"rounds": 1000}, {"replicates": 6400}])
def test_time_is_right_within_a_factor_of_thirty(changes):
    """A busy machine is several times slower; what is checked is that a day is not taken for a minute."""
    replicates = changes.get("replicates", 64)
    one = experiment(rounds=changes.get("rounds", 10))
    fl.simulate(one, replicates=2, collapse=False)
    begin = time.perf_counter()
    fl.simulate(one, replicates=replicates, collapse=False, threads=1)
    taken = time.perf_counter() - begin
    guess = estimate(one, replicates=replicates, record=fl.Record(), every_step=True).seconds
    assert guess / 30 < taken < 30 * guess


def test_memory_of_this_computer_is_known(monkeypatch):
    monkeypatch.undo()
    assert 10**8 < memory.allowed() < 10**14


def test_estimates_in_words():
    assert Cost(memory=10, seconds=30).in_words() == "about 30 s on one core and 10 bytes of memory"
    for seconds, words in (
        (59.9, "60 s"),
        (60, "1 min"),
        (3599, "60 min"),
        (3600, "1 h"),
        (86399, "24 h"),
        (86400, "1 days"),
    ):
        assert Cost(memory=10, seconds=seconds).in_words() == f"about {words} on one core and 10 bytes of memory"
    assert Cost(memory=10**10, seconds=3e5).in_words() == "about 3.5 days on one core and 10 GB of memory"
