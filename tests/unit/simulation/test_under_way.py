"""How far a run is: every engine tells the shares that are done, in order, and says nothing where nobody asks."""

import pytest

import fltheory as fl
from fltheory.participation import WithoutReplacement
from fltheory.simulation import under_way
from fltheory.simulation.engines import propagation


def experiment(problem=None, selection=None, rounds=12):
    problem = fl.noisy_quadratic(dim=3, num_clients=4) if problem is None else problem
    participation = fl.Participation(num_clients=4, local_steps=2, **({"selection": selection} if selection else {}))
    return fl.Experiment(problem=problem, algorithm=fl.FedAvg(), participation=participation, rounds=rounds, rate=0.1)


DIFFERENT = fl.client_quadratics(dim=3, num_clients=4)
SOME = WithoutReplacement(size=2, renormalise=True)
RUNS = {
    "every step": (experiment(), {"replicates": 300, "collapse": False}),
    "rounds at once": (experiment(), {"replicates": 1100}),
    "reference": (experiment(), {"replicates": 2, "engine": "reference"}),
    "exact, alike": (experiment(), {"engine": "exact"}),
    "exact, different": (experiment(DIFFERENT), {"engine": "exact"}),
    "exact, sampled": (experiment(DIFFERENT, SOME), {"engine": "exact", "replicates": 3}),
}


@pytest.mark.parametrize("name", RUNS)
def test_shares_grow_to_one(name, monkeypatch):
    monkeypatch.setattr(under_way, "PAUSE", 0.0)
    if name == "exact, sampled":
        monkeypatch.setattr(propagation, "OUTCOMES", 1)
    one, options = RUNS[name]
    found = []
    with under_way.telling(found.append):
        told = fl.simulate(one, **options)
    assert found == sorted(found)
    assert found[-1] == pytest.approx(1.0)
    assert len(found) > 1
    count = len(found)
    untold = fl.simulate(one, **options)
    assert len(found) == count
    assert told.gap.tobytes() == untold.gap.tobytes()


def test_a_run_that_goes_on_counts_what_is_done(tmp_path, monkeypatch):
    from fltheory.simulation import checkpoints

    monkeypatch.setattr(under_way, "PAUSE", 0.0)
    monkeypatch.setattr(checkpoints, "LEAST", 0.0)
    monkeypatch.setattr(checkpoints, "SHARE", float("inf"))

    class Enough(Exception):
        pass

    def stop(share):
        if share >= 0.5:
            raise Enough

    options = {"replicates": 2, "collapse": False, "threads": 1}
    kept = checkpoints.Checkpoint(path=tmp_path / "x", key="k")
    with pytest.raises(Enough), under_way.telling(stop):
        fl.simulate(experiment(), checkpoint=kept, **options)
    found = []
    with under_way.telling(found.append):
        fl.simulate(experiment(), checkpoint=kept, **options)
    assert found[0] == pytest.approx(0.5)
    assert found[-1] == 1.0
