"""Curves that come out of an engine: frozen, finite, stored and loaded as they were."""

import json
import re
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fltheory import Experiment, Participation, Record, Trajectories, noisy_quadratic, simulate
from fltheory.algorithms.cflr import CFLR
from fltheory.algorithms.fedavg import FedAvg
from fltheory.errors import InvalidParameter, NotApplicable
from fltheory.participation import BernoulliSteps
from fltheory.simulation.trajectories import simultaneous_half_width


def trajectories(values=None, **more):
    values = np.arange(12.0).reshape(3, 4) if values is None else np.asarray(values, dtype=float)
    names = ("distance_sq", "gap", "gradient_norm_sq", "uplink_bits", "downlink_bits")
    return Trajectories(algorithm="A", **(dict.fromkeys(names, values) | more))


def run(**more):
    experiment = Experiment(
        problem=noisy_quadratic(dim=3, num_clients=2),
        algorithm=FedAvg(),
        participation=Participation(num_clients=2, local_steps=2),
        rounds=3,
        rate=0.1,
    )
    return simulate(experiment, **({"replicates": 4, "seed": 7} | more))


def assert_same(first, second):
    assert first.curves() == second.curves()
    assert all(np.array_equal(first.curve(name), second.curve(name)) for name in first.curves())
    assert (first.algorithm, first.exact, first.provenance) == (second.algorithm, second.exact, second.provenance)
    assert first.method == second.method


@pytest.mark.parametrize("name", ["run", "run.npz", "run.json", "prox-0.1", "v1.2.npz"])
def test_save_and_load(tmp_path, name):
    stored = run(record=Record(models=True, nonzeros=True, entropy_bin=0.1))
    stored.save(tmp_path / name)
    assert_same(Trajectories.load(tmp_path / name), stored)
    assert len(list(tmp_path.iterdir())) == 2


def test_names_that_differ_after_a_dot_do_not_collide(tmp_path):
    first, second = run(seed=1), run(seed=2)
    first.save(tmp_path / "prox-0.1")
    second.save(tmp_path / "prox-0.5")
    assert_same(Trajectories.load(tmp_path / "prox-0.1"), first)
    assert_same(Trajectories.load(tmp_path / "prox-0.5"), second)


def test_that_participation_was_sampled_is_stored(tmp_path):
    experiment = Experiment(
        problem=noisy_quadratic(dim=2, num_clients=3),
        algorithm=CFLR(),
        participation=Participation(num_clients=3, local_steps=1, steps=BernoulliSteps(probability=0.5)),
        rounds=8,
        rate=0.1,
    )
    stored = simulate(experiment, engine="exact", replicates=4)
    assert stored.method == "Rao-Blackwell"
    stored.save(tmp_path / "run")
    assert_same(Trajectories.load(tmp_path / "run"), stored)


def test_provenance_names_what_was_run(tmp_path):
    stored = run()
    stored.save(tmp_path / "run")
    record = json.loads((tmp_path / "run.json").read_text())["provenance"]
    assert (record["engine"], record["seed"], record["replicates"]) == ("monte_carlo", 7, 4)
    assert record["experiment"]["algorithm"] == {"type": "FedAvg", "server_rate": 1.0}
    assert record["experiment"]["rounds"] == 3
    assert record["experiment"]["problem"]["hessian"] == [[1.0, 3.0, 5.0]]
    assert set(record["versions"]) == {"python", "fltheory", "numpy", "scipy", "numba"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", record["time"])


def test_no_pickle_is_read(tmp_path):
    run().save(tmp_path / "run")
    np.savez(tmp_path / "run.npz", gap=np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="allow_pickle=False"):
        Trajectories.load(tmp_path / "run")


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_only_finite_curves_exist(bad):
    values = np.ones((2, 3))
    values[1, 2] = bad
    with pytest.raises(InvalidParameter, match=r"Trajectories\.gap must be finite"):
        trajectories(gap=values)


def test_curves_are_frozen_copies():
    values = np.ones((2, 3))
    stored = trajectories(values)
    values[0, 0] = 5.0
    assert stored.gap[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        stored.gap[0, 0] = 2.0
    assert (stored.replicates, stored.rounds) == (2, 2)


def test_the_first_rounds_are_those_of_a_shorter_run():
    whole = trajectories(conditional=True, models=np.arange(24.0).reshape(3, 4, 2))
    cut = whole.until(2)
    assert (cut.rounds, cut.replicates, cut.algorithm) == (2, 3, "A")
    assert all(np.array_equal(cut.curve(name), whole.curve(name)[:, :3]) for name in whole.curves())
    assert cut.method == "Rao-Blackwell"
    with pytest.raises(InvalidParameter, match="rounds must be"):
        whole.until(4)


def test_unknown_and_missing_curves():
    stored = run(record=Record(consensus=False))
    with pytest.raises(InvalidParameter, match="did you mean 'gap'"):
        stored.curve("gapp")
    with pytest.raises(
        NotApplicable, match=r"'consensus_sq' was not recorded by the monte_carlo engine.*distance_sq, gap"
    ):
        stored.curve("consensus_sq")


class TestBands:
    @settings(max_examples=30)
    @given(seed=st.integers(0, 10**6), replicates=st.integers(2, 30), level=st.sampled_from([0.5, 0.9, 0.999]))
    def test_student_intervals_shared_between_rounds(self, seed, replicates, level):
        from scipy import stats

        values = np.random.default_rng(seed).standard_normal((replicates, 4))
        band = trajectories(values).band("gap", level=level)
        for column, low, high in zip(values.T, band.low, band.high, strict=True):
            each = 1 - (1 - level) / 4
            expected = stats.t.interval(each, replicates - 1, loc=column.mean(), scale=stats.sem(column))
            np.testing.assert_allclose([low, high], expected, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(band.mean, values.mean(axis=0))

    def test_coverage(self):
        """2,000 bands at level 0.9 over 5 columns: independent columns are covered jointly with 0.98^5 = 0.904.

        The number of misses is binomial; 6 standard deviations are exceeded with probability below 1e-8.
        """
        rng = np.random.default_rng(5)
        misses = 0
        for _ in range(2000):
            values = rng.standard_normal((8, 5))
            misses += bool(np.any(np.abs(values.mean(axis=0)) > simultaneous_half_width(values, 0.9)))
        chance = 1 - 0.98**5
        assert abs(misses - 2000 * chance) < 6 * np.sqrt(2000 * chance * (1 - chance))

    def test_exact_curves_have_no_width(self):
        band = run(engine="exact").band("gap", level=0.9999)
        assert np.array_equal(band.low, band.high)
        assert np.array_equal(band.mean, band.low)

    @pytest.mark.parametrize("level", [0.0, 1.0, 99])
    def test_levels(self, level):
        with pytest.raises(InvalidParameter, match=r"band\.level must be a number in \(0, 1\)"):
            trajectories().band("gap", level=level)

    def test_one_replicate_has_no_band(self):
        with pytest.raises(NotApplicable, match="at least 2 replicates"):
            trajectories(np.ones((1, 4))).band("gap")


def test_curves_as_data_frame_and_data_set():
    runs = trajectories()
    frame = runs.to_dataframe()
    assert frame.query("replicate == 1 and round == 2")["gap"].tolist() == [6.0]
    data = runs.to_xarray()
    assert data["gap"].sel(replicate=0, round=1).item() == 1.0
    assert data.attrs == {"algorithm": "A", "exact": 0}


def test_a_library_that_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(NotApplicable, match="pip install pandas"):
        trajectories().to_dataframe()


@pytest.mark.parametrize("power", [0, 160, 300])
def test_bands_of_huge_values_are_those_of_small_ones(power):
    values = np.array([[1.0, 2.0], [1.5, 4.0], [0.5, 3.0]])
    half = simultaneous_half_width(values * 10.0**power, 0.99)
    np.testing.assert_allclose(half / 10.0**power, simultaneous_half_width(values, 0.99), rtol=1e-12)
    # Every column has a scale of its own.
    powers = np.array([-100.0, power])
    mixed = simultaneous_half_width(values * 10.0**powers, 0.99)
    np.testing.assert_allclose(mixed / 10.0**powers, simultaneous_half_width(values, 0.99), rtol=1e-12)


def test_columns_are_means_with_their_bands():
    """One entry per round; exact curves and single replicates have no ends of a band."""
    several = trajectories()
    columns = several.columns()
    np.testing.assert_array_equal(columns["round"], [0.0, 1.0, 2.0, 3.0])
    band = several.band("gap")
    for name, values in (("gap", band.mean), ("gap_low", band.low), ("gap_high", band.high)):
        np.testing.assert_array_equal(columns[name], values)
    for alone in (trajectories([[3.0, 2.0, 1.0]]), trajectories(exact=True)):
        assert list(alone.columns()) == ["round", *alone.curves()]
