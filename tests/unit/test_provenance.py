"""Where results come from: the record that accompanies them."""

import json
import subprocess
from pathlib import Path

import fltheory
from fltheory import Experiment, Participation, noisy_quadratic, provenance, simulate
from fltheory.algorithms.fedavg import FedAvg

ROOT = Path(__file__).parents[2]


def experiment() -> Experiment:
    return Experiment(
        problem=noisy_quadratic(dim=3, num_clients=2),
        algorithm=FedAvg(server_rate=0.5),
        participation=Participation(num_clients=2, local_steps=3),
        rounds=2,
        rate=0.1,
    )


def test_commit_is_that_of_git() -> None:
    known = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert provenance.commit() == known.stdout.strip()


def test_record_is_plain_json_and_names_seed_configuration_and_versions() -> None:
    run = simulate(experiment(), seed=11, replicates=3)
    record = json.loads(json.dumps(run.provenance, allow_nan=False))
    assert (record["seed"], record["replicates"], record["engine"]) == (11, 3, "monte_carlo")
    assert record["experiment"]["algorithm"] == {"type": "FedAvg", "server_rate": 0.5}
    assert record["experiment"]["rate"] == {"type": "Constant", "value": 0.1}
    assert record["experiment"]["participation"]["local_steps"] == 3
    assert record["versions"]["fltheory"] == fltheory.__version__
    assert record["commit"] == provenance.commit()
    assert record["steps"].startswith("rounds drawn at once")


def test_the_way_taken_is_recorded() -> None:
    assert simulate(experiment(), replicates=2, collapse=False).provenance["steps"] == "every step run: asked for"
    assert simulate(experiment(), engine="exact").provenance["participation"] == "enumerated"
