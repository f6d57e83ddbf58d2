"""Estimates before a run is begun: what is refused, which number is named, and that nothing is allocated first."""

import dataclasses
import re
import time
import tracemalloc

import pytest

import fltheory as fl
from fltheory._internal import memory
from fltheory.configuration import registry
from fltheory.configuration.experiments import parse
from fltheory.participation import WithoutReplacement
from fltheory.simulation.cost import Cost, estimate
from fltheory.simulation.engines import stretches

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


SIZES_OF = {
    "noisy-quadratic": ("dim", "num_clients"),
    "client-quadratics": ("dim", "num_clients"),
    "synthetic": ("num_clients", "num_features", "num_classes", "min_size"),
    "logistic-clients": ("num_clients", "num_features", "samples"),
    "controlled-logistic": ("num_clients", "num_features", "num_classes", "samples"),
    "bent_parabola": ("num_clients",),
    "bent_valley": ("num_clients",),
    "bent_valley_with_pulls": ("num_clients",),
}
NEEDED = {
    "synthetic": {"alpha": 1.0, "beta": 1.0, "seed": 0},
    "logistic-clients": {"num_clients": 4, "num_features": 3, "samples": 5, "seed": 0},
    "bent_parabola": {"H": 1.0, "sigma": 1.0},
    "bent_valley": {"H": 1.0, "mu": 0.1, "distance": 1.0, "sigma": 1.0, "num_clients": 2},
    "bent_valley_with_pulls": {"H": 1.0, "mu": 0.1, "distance": 1.0, "sigma": 1.0, "zeta": 1.0, "num_clients": 2},
}


@pytest.mark.parametrize(("name", "field"), [(name, field) for name in SIZES_OF for field in SIZES_OF[name]])
def test_no_size_of_a_problem_fails_in_an_allocation(name, field):
    make = getattr(fl, name) if name.startswith("bent") else registry.problem(name)
    with pytest.raises(
        fl.InvalidParameter, match=rf"\.{field} must be at most about \d\d+, since .* of memory, got {field}="
    ):
        make(**NEEDED.get(name, {}) | {field: 10**9})


def test_every_problem_of_a_file_is_among_them():
    from_files = {"logistic-arrays", "softmax-arrays", "network"}
    assert set(registry.PROBLEMS) - from_files == {name for name in SIZES_OF if not name.startswith("bent")}


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


def test_the_number_that_is_named_suffices_whatever_the_others_are():
    for changes in (
        {"rounds": 10**9, "steps": 10**6},
        {"rounds": 2 * 10**6, "replicates": 10**5},
        {"rounds": 10**5, "steps": 10**7, "replicates": 500, "engine": "reference"},
        {"rounds": 10**9, "engine": "exact"},
    ):
        with pytest.raises(fl.InvalidParameter) as caught:
            parse(TEXT.format(**USUAL | changes))
        name, largest = re.search(r"Configuration\.(\w+) must be at most about (\d+)", str(caught.value)).groups()
        field = {"local_steps": "steps"}.get(name, name)
        parse(TEXT.format(**USUAL | changes | {field: largest}))


def test_two_numbers_are_named_where_one_does_not_suffice():
    message = r"rounds must be far lower, and replicates as well, since .*=5000000000; lower replicates or rounds; "
    with pytest.raises(fl.InvalidParameter, match=message):
        parse(TEXT.format(**USUAL | {"rounds": 5 * 10**9, "replicates": 10**9}))


def test_expectations_take_no_replicates():
    """One row, however many replicates the file asks for; but moments of every round are held."""
    many = {"rounds": 10**5, "replicates": 10**6, "engine": "exact", "rotated": "false"}
    assert parse(TEXT.format(**USUAL | many)).engine == "exact"
    few = fl.simulate(experiment(), engine="exact", replicates=2)
    assert fl.simulate(experiment(), engine="exact", replicates=10**9).gap.tobytes() == few.gap.tobytes()
    with pytest.raises(fl.InvalidParameter, match=r"rounds must be at most about \d+, since rounds=1000000 with "):
        parse(TEXT.format(**USUAL | many | {"rounds": 10**6, "dim": 500}))


def test_expectations_given_a_sample_of_participation_take_replicates():
    some = WithoutReplacement(size=8, renormalise=True)
    chosen = fl.Participation(num_clients=20, local_steps=2, selection=some)
    one = fl.Experiment(
        problem=fl.noisy_quadratic(dim=5, num_clients=20),
        algorithm=fl.FedAvg(),
        participation=chosen,
        rounds=1000,
        rate=0.01,
    )
    with pytest.raises(fl.InvalidParameter, match=r"replicates must be at most about \d+, since replicates=10000000"):
        fl.simulate(one, engine="exact", replicates=10**7)


def peak_of(run):
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_what_clients_keep_is_held_for_some_rounds_at_a_time(monkeypatch):
    """Expectations of SCAFFOLD, whose clients are alike, hold means of all clients' corrections."""
    monkeypatch.setattr(stretches, "_OWN", 2**16)
    clients, rounds = 200, 1000
    one = fl.Experiment(
        problem=fl.noisy_quadratic(dim=10, num_clients=clients),
        algorithm=fl.Scaffold(),
        participation=fl.Participation(num_clients=clients, local_steps=2),
        rounds=rounds,
        rate=0.01,
    )
    assert peak_of(lambda: fl.simulate(one, engine="exact")) < 8 * clients * 10 * rounds


def test_equal_weights_of_very_many_clients_are_held_once(monkeypatch):
    clients, rounds = 20_000, 300
    one = fl.Experiment(
        problem=fl.noisy_quadratic(dim=1, mu=1, L=1, num_clients=clients),
        algorithm=fl.FedAvg(),
        participation=fl.Participation(num_clients=clients, local_steps=2),
        rounds=rounds,
        rate=0.01,
    )
    monkeypatch.setattr(stretches, "_OWN", 2**18)
    assert peak_of(lambda: fl.simulate(one, engine="exact")) < 8 * clients * rounds


@pytest.mark.parametrize("algorithm", [fl.FedAvg(), fl.Scaffold()], ids=["FedAvg", "SCAFFOLD"])
@pytest.mark.parametrize("kind", ["common basis", "dense", "covariances"])
def test_memory_of_expectations_is_right_within_a_factor_of_two(kind, algorithm, monkeypatch):
    monkeypatch.setattr(stretches, "_HELD", 2**14)  # some 100 MB otherwise, however long the run
    rounds, clients = 600 if kind == "dense" else 3000, 4
    if kind == "dense":
        problem = fl.client_quadratics(dim=12, num_clients=clients)
    else:
        problem = fl.noisy_quadratic(dim=30 if kind == "covariances" else 300, num_clients=clients)
    participation = fl.Participation(num_clients=clients, local_steps=2)
    one = fl.Experiment(problem=problem, algorithm=algorithm, participation=participation, rounds=rounds, rate=0.01)
    record = fl.Record(moments=kind == "covariances")
    fl.simulate(dataclasses.replace(one, rounds=2), engine="exact", record=record)
    peak = peak_of(lambda: fl.simulate(one, engine="exact", record=record))
    guess = estimate(one, replicates=1, record=record, every_step=False, exact=True).memory
    assert guess / 2 < peak < 2 * guess, (guess, peak)


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


def test_a_rate_for_every_step_takes_memory():
    """Eight bytes each at the very least, however short the run."""
    short, long = (
        estimate(experiment(local_steps=steps), replicates=4, record=fl.Record(), every_step=True)
        for steps in (1, 10**6)
    )
    assert long.memory - short.memory >= 8 * (10**6 - 1)


@pytest.mark.parametrize(
    ("rotated", "algorithm", "dense"),
    [
        (True, fl.FedAvg(), False),  # in turned coordinates every one stands for itself
        (True, fl.EFL(), True),  # its curvature is diagonal in the coordinates that are given
        (False, fl.EFL(), False),
    ],
)
def test_covariances_are_counted_where_they_are_followed(rotated, algorithm, dense):
    """Ten times the dimension: about ten times the numbers, or about a hundred times if pairs of coordinates count."""
    memory = []
    for dim in (100, 1000):
        problem = fl.noisy_quadratic(dim=dim, num_clients=4, rotated=rotated)
        run = fl.Experiment(
            problem=problem,
            algorithm=algorithm,
            participation=fl.Participation(num_clients=4, local_steps=1),
            rounds=1000,
            rate=0.01,
        )
        memory.append(estimate(run, replicates=1, record=fl.Record(), every_step=False, exact=True).memory)
    assert (memory[1] > 50 * memory[0]) is dense
