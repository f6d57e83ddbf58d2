"""Candidate step sizes against brute force, the theorems behind them, and everything that is shown of them."""

import json
import math

import numpy as np
import pytest

import fltheory as fl
from fltheory.errors import InvalidParameter, NotApplicable
from fltheory.jobs import tuning
from fltheory.jobs.step_sizes import COLUMNS
from fltheory.participation import WithoutReplacement

ROUNDS = 12


def problem_of(**more):
    options = {"dim": 4, "num_clients": 3, "mu": 1.0, "L": 6.0, "dissimilarity": 2.0, "noise_sq": 0.3}
    return fl.client_quadratics(**(options | more))


def participation_of(clients=3, steps=3):
    return fl.Participation(num_clients=clients, local_steps=steps)


@pytest.fixture(scope="module")
def found():
    return fl.step_sizes(
        problem_of(), fl.FedAvg(), participation_of(), rounds=ROUNDS, accuracy=0.05, rate=0.07, server_rates=(0.5, 2.0)
    )


def run_with(rate, *, server_rate=1.0, rounds=ROUNDS, problem=None):
    experiment = fl.Experiment(
        problem=problem or problem_of(),
        algorithm=fl.FedAvg(server_rate=server_rate),
        participation=participation_of(),
        rounds=rounds,
        rate=rate,
    )
    return fl.simulate(experiment, engine="exact", record=fl.Record(consensus=False)).gap[0]


def brute_force(server_rate, limit):
    rates = np.geomspace(1e-3, 1.5 * limit, 150)
    return min(float(run_with(rate, server_rate=server_rate)[-1]) for rate in rates)


def test_every_row_says_what_a_run_of_its_rate_says(found):
    assert found.method == "exact"
    for one in found.candidates:
        gap = run_with(one.rate, server_rate=one.server_rate, rounds=found.longest)
        assert one.gap == pytest.approx(gap[ROUNDS], rel=1e-9)
        below = np.flatnonzero(gap <= 0.05)
        assert one.rounds_to_accuracy == (int(below[0]) if below.size else None)
        assert one.last == pytest.approx(
            fl.Experiment(
                problem=problem_of(),
                algorithm=fl.FedAvg(),
                participation=participation_of(),
                rounds=ROUNDS,
                rate=one.rate,
            ).rates_at(ROUNDS - 1)[-1]
        )


def test_the_limit_and_its_half(found):
    assert found.limit.method == "spectral radius"
    assert found["stability limit"].first == found.limit.rate
    assert found["stability limit"].share == 1.0
    assert found["stability limit"].rounds_to_accuracy is None
    assert found["half the stability limit"].share == pytest.approx(0.5)


def test_the_best_constant_rate_beats_brute_force(found):
    assert found["best constant rate"].gap <= brute_force(1.0, found.limit.rate) * (1 + 1e-5)


def test_the_best_pair_beats_brute_force_over_all_server_rates(found):
    best = found["best with server rate"]
    least = min(brute_force(server_rate, found.limit.rate) for server_rate in (0.5, 1.0, 2.0))
    assert best.server_rate in (0.5, 1.0, 2.0)
    assert best.gap <= least * (1 + 1e-5)
    assert best.gap <= found["best constant rate"].gap * (1 + 1e-9)


def test_the_share_belongs_to_the_limit_of_the_same_server_rate():
    found = fl.step_sizes(
        fl.noisy_quadratic(dim=2, num_clients=2, mu=1.0, L=4.0, noise_sq=1.0),
        fl.FedAvg(),
        participation_of(2, 1),
        rounds=5,
        server_rates=(0.25,),
    )
    best = found["best with server rate"]
    assert best.share == pytest.approx(best.first * best.server_rate / 0.5, rel=1e-4)


def test_nobody_on_the_grid_is_faster_than_the_fewest_rounds(found):
    fewest = found["fewest rounds"].rounds_to_accuracy
    rates = np.geomspace(1e-3, found.limit.rate, 100)
    curves = [run_with(rate) for rate in rates]
    brute = min(int(np.flatnonzero(curve <= 0.05)[0]) for curve in curves if curve.min() <= 0.05)
    assert fewest <= brute + 1
    assert found.fastest.rounds_to_accuracy <= fewest
    assert found.best.gap == min(one.gap for one in found.candidates if one.gap is not None)


def test_rows_of_theorems_have_the_rates_that_they_prescribe(found):
    theorem = fl.theorem("ruan.theorem-3.1")
    rate = theorem.rate_for(problem_of(), participation_of(), algorithm=fl.FedAvg())
    row = found["ruan.theorem-3.1"]
    assert row.kind == "theorem"
    assert {"published", "corrected"} <= set(row.forms)
    assert (row.first, row.last) == pytest.approx((rate.at(0), rate.at(ROUNDS - 1)))
    changing = fl.theorem("efl.theorem-1").rate_for(
        problem_of(), participation_of(), algorithm=fl.FedAvg(), rounds=found.longest
    )
    assert found["efl.theorem-1"].last == pytest.approx(changing.at(ROUNDS - 1))
    assert changing.at(ROUNDS - 1) < changing.at(0)
    rows = {one.name.split()[0] for one in found.candidates if one.kind == "theorem"}
    assert {"ruan.theorem-3.1", "ruan.eq-66", "efl.theorem-1"} <= rows
    assert "cfl.theorem-4.1-sc" in found.free
    assert not rows & {*found.refused, *found.free}


def test_theorems_about_other_algorithms_are_listed_with_the_reason():
    found = fl.step_sizes(problem_of(), fl.FedDyn(), participation_of(), rounds=3)
    assert {"ruan.theorem-3.1", "ruan.eq-66", "efl.theorem-1"} <= set(found.refused)
    assert all("got FedDyn" in reason for reason in found.refused.values())
    assert not [one for one in found.candidates if one.kind == "theorem"]
    line = next(line for line in str(found).splitlines() if "ruan.theorem-3.1" in line)
    assert line.startswith("no rate from ruan.eq-66, ")
    assert "the statement is about flexible participation" in line
    assert all(one.server_rate is None for one in found.candidates)
    assert "best with server rate" not in {one.name for one in found.candidates}


class Opaque:
    """A problem that does not say what it knows."""

    def __init__(self, problem):
        self._problem = problem

    def __getattr__(self, name):
        return getattr(self._problem, name)

    def constants(self):
        return {}


def test_missing_constants_are_asked_for_and_may_be_declared():
    hidden = Opaque(problem_of())
    refused = fl.step_sizes(hidden, fl.FedAvg(), participation_of(), rounds=3, server_rates=()).refused
    assert "does not know Gamma" in refused["ruan.theorem-3.1"]
    declared = fl.step_sizes(
        hidden, fl.FedAvg(), participation_of(), rounds=3, server_rates=(), Gamma=[0.1, 0.1, 0.1], mu=0.5
    )
    rate = 16 / (0.5 * 3)  # scale of the staircase: 16 / (mu E[sum p s])
    assert declared["ruan.theorem-3.1"].rate.scale == pytest.approx(rate)


def test_the_shared_hessian_of_a_noisy_quadratic_does_not_break_the_limit_form():
    problem = fl.noisy_quadratic(dim=3, num_clients=2)
    statement = fl.theorem("ruan.theorem-3.1")
    with pytest.raises(NotApplicable, match="clients without drift"):
        statement.rate_for(problem, participation_of(2), algorithm=fl.Ruan(), variant="sharp@limit")
    still = fl.noisy_quadratic(dim=3, num_clients=2, client_drift_sq=0.0, round_drift_sq=0.0)
    rate = statement.rate_for(still, participation_of(2), algorithm=fl.Ruan(), variant="sharp@limit")
    corrected = statement.rate_for(still, participation_of(2), algorithm=fl.Ruan(), variant="corrected")
    assert rate.at(0) == pytest.approx(corrected.at(0))


def test_a_given_rate_is_compared_and_divergence_is_shown():
    found = fl.step_sizes(problem_of(), fl.FedAvg(), participation_of(), rounds=40, rate=40.0, server_rates=())
    row = found["given rate"]
    assert row.diverged
    assert row.run is None
    assert found.cells()[found.candidates.index(row)][4:] == ("diverges", "> 400", "-")
    assert "given rate" not in _labels(found.plot())
    assert "best constant rate" in _labels(found.plot())


def test_a_rate_that_diverges_after_the_horizon_has_a_gap_at_its_end():
    found = fl.step_sizes(problem_of(), fl.FedAvg(), participation_of(), rounds=20, rate=2.0, server_rates=())
    assert not found["given rate"].diverged
    assert found["given rate"].run.rounds == 20


def test_without_accuracy_a_hundredth_of_the_start(found):
    short = fl.step_sizes(problem_of(), fl.FedAvg(), participation_of(), rounds=2, server_rates=())
    assert short.accuracy == pytest.approx(0.01 * run_with(0.1)[0])
    assert short.longest == 2 * tuning.PATIENCE
    assert found.longest == ROUNDS * tuning.PATIENCE


def test_where_nothing_is_exact_runs_are_simulated():
    problem = fl.logistic_clients(num_clients=2, num_features=2, samples=20, l2=0.5, seed=1)
    options = {"rounds": 5, "replicates": 4, "server_rates": ()}
    found = fl.step_sizes(problem, fl.FedAvg(), participation_of(2, 2), **options)
    assert found.method == "Monte Carlo"
    assert found.longest == 5
    assert found.limit.method == "divergence of runs"
    assert "where runs begin to diverge" in str(found)
    assert found.local_model is None
    assert found["best constant rate"].gap < found.candidates[0].run.gap[:, 0].mean()


def test_participation_that_cannot_be_enumerated_is_simulated():
    some = fl.Participation(num_clients=30, local_steps=1, selection=WithoutReplacement(size=10, renormalise=True))
    problem = fl.noisy_quadratic(dim=2, num_clients=30, mu=1.0, L=4.0)
    found = fl.step_sizes(problem, fl.FedAvg(), some, rounds=5, replicates=3, server_rates=())
    assert found.method == "Monte Carlo"
    assert "outcomes of participation" in found.limit.reason
    assert found.limit.rate == pytest.approx(0.5, rel=0.05)


def test_the_table_in_all_its_forms(found):
    lines = str(found).splitlines()
    assert lines[0] == f"FedAvg: {ROUNDS} rounds, accuracy 0.05, exact"
    assert lines[1].split("  ")[0] == COLUMNS[0]
    assert len(lines) == 2 + len(found.candidates) + len(found.remarks())
    page = found._repr_html_()
    assert page.count("<tr>") == 1 + len(found.candidates)
    frame = found.to_dataframe()
    assert list(frame["name"]) == [one.name for one in found.candidates]
    assert frame["gap"].min() == found.best.gap
    document = json.loads(json.dumps(found.as_json(), allow_nan=False))
    assert document["limit"]["rate"] == found.limit.rate
    assert document["candidates"][0]["share_of_limit"] == 1.0
    assert document["local_model"] is None
    assert repr(found).startswith("StepSizes(FedAvg: largest stable rate")
    with pytest.raises(KeyError, match="there are stability limit"):
        found["nothing"]


def _labels(figure):
    return [text.get_text() for text in figure.axes[0].get_legend().get_texts()]


def test_one_figure_with_all_candidates(found):
    figure = found.plot(title="mine")
    drawn = {id(one.run): one.run for one in found.candidates}
    assert len(drawn) < len(found.candidates)  # theorems that ask for the same rate
    for line, run in zip(figure.axes[0].lines, drawn.values(), strict=True):
        assert line.get_ydata() == pytest.approx(run.gap[0, : ROUNDS + 1])
    labels = _labels(figure)
    assert labels[:3] == [one.name for one in found.candidates[:3]]
    counted = sum(1 + (int(label.split()[-2]) if label.endswith(" more") else 0) for label in labels)
    assert counted == len(found.candidates)
    assert figure.axes[0].get_title() == "mine"


def test_a_label_with_markup_is_escaped():
    found = fl.step_sizes(
        problem_of(), fl.FedAvg(), participation_of(), rounds=2, server_rates=(), label="<b>$x_1$</b>"
    )
    assert "&lt;b&gt;" in found._repr_html_()
    found.plot().canvas.draw()


def test_no_limit_is_said():
    found = fl.step_sizes(problem_of(), fl.SignSGD(), participation_of(), rounds=4, replicates=2)
    assert math.isinf(found.limit.rate)
    assert found.as_json()["limit"]["rate"] is None
    assert "no rate that was tried makes it diverge" in found.notes
    assert all(one.share is None for one in found.candidates)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rounds": 0}, r"step_sizes\.rounds must be an integer >= 1, got rounds=0"),
        ({"accuracy": 0.0}, r"step_sizes\.accuracy must be a number in \(0, inf\)"),
        ({"accuracy": math.nan}, r"step_sizes\.accuracy"),
        ({"longest": 3}, r"step_sizes\.longest must be an integer >= 5, got longest=3"),
        ({"rate": -1.0}, r"Experiment\.rate"),
        ({"rate": "fast"}, r"Experiment\.rate"),
        ({"server_rates": (1.0, 0.0)}, r"step_sizes\.server_rates must be positive numbers"),
        ({"server_rates": (1.0, math.inf)}, r"step_sizes\.server_rates must be finite"),
        ({"algorithm": fl.FedDyn(), "server_rates": (1.0,)}, "empty, since FedDyn has no server rate"),
        ({"participation": fl.Participation(num_clients=2, local_steps=1)}, r"step_sizes\.participation"),
        ({"replicates": 0}, r"simulate\.replicates"),
    ],
)
def test_bad_input(changes, message):
    options = {"algorithm": fl.FedAvg(), "participation": participation_of(), "rounds": 5} | changes
    with pytest.raises(InvalidParameter, match=message):
        fl.step_sizes(problem_of(), **options)


def test_a_start_at_the_minimum_is_refused():
    problem = fl.noisy_quadratic(dim=2, num_clients=2, radius=0.0)
    with pytest.raises(NotApplicable, match="the start is a minimiser"):
        fl.step_sizes(problem, fl.FedAvg(), participation_of(2), rounds=5)
    reached = fl.step_sizes(problem, fl.FedAvg(), participation_of(2), rounds=5, accuracy=0.1, server_rates=())
    assert reached["best constant rate"].rounds_to_accuracy == 0


def test_progress_is_told():
    told = []

    class Told:
        def expect(self, parts):
            told.append(parts)

        def begin(self, label):
            told.append(label)

        def end(self, outcome):
            told.append("end")

    fl.step_sizes(problem_of(), fl.FedAvg(), participation_of(), rounds=2, server_rates=(), progress=Told())
    assert told[0] == tuning.PARTS == told.count("end")


def test_unmet_assumptions_stand_in_the_row_of_the_theorem():
    problem = fl.noisy_quadratic(dim=3, num_clients=2, mu=1.0, L=4.0, round_drift_sq=0.1)
    found = fl.step_sizes(problem, fl.FedAvg(), participation_of(2, 2), rounds=4, server_rates=())
    row = found["ruan.theorem-3.1"]
    name = "no drift that is shared by all steps of a round"
    assert row.unmet == {name: "round_drift_sq = 0.1"}
    (line,) = [line for line in str(found).splitlines() if line.startswith("ruan.theorem-3.1 ")]
    assert line.endswith(f"  {name}")
    assert any(line.startswith("unmet in ") and f"{name} (round_drift_sq = 0.1)" in line for line in found.remarks())
    assert found["best constant rate"].assumptions == "-"
    still = fl.step_sizes(problem_of(), fl.FedAvg(), participation_of(), rounds=4, server_rates=())
    assert still["ruan.theorem-3.1"].assumptions == "none"


def test_a_theorem_whose_rate_divides_by_zero_is_refused():
    problem = fl.noisy_quadratic(dim=4, num_clients=2, mu=0.0, L=3.0)
    found = fl.step_sizes(problem, fl.FedAvg(), participation_of(2, 2), rounds=4, server_rates=())
    assert "ruan.theorem-3.1" in found.refused
    assert any("divides by a constant that is 0" in reason for reason in found.refused.values())
