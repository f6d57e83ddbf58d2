"""What becomes of one run: final values, and words for failures."""

import numpy as np

from fltheory.simulation.run_result import final
from fltheory.simulation.trajectories import Trajectories


def trajectories(values, **more):
    names = ("distance_sq", "gap", "gradient_norm_sq", "uplink_bits", "downlink_bits")
    return Trajectories(algorithm="A", **(dict.fromkeys(names, np.asarray(values, dtype=float)) | more))


def test_final_values_have_the_half_width_of_the_band():
    runs = trajectories([[1.0, 2.0], [1.0, 4.0]], models=np.zeros((2, 2, 3)))
    band = runs.band("gap", level=0.99)
    assert final(runs)["gap"] == {"mean": 3.0, "half_width": band.high[-1] - 3.0}
    assert "models" not in final(runs)


def test_one_replicate_and_the_edge_of_floating_point_have_no_band():
    assert final(trajectories([[1.0, 2.0]]))["gap"] == {"mean": 2.0, "half_width": None}
    assert final(trajectories([[1.0, 2.0]], exact=True))["gap"] == {"mean": 2.0, "half_width": 0.0}
    assert final(trajectories([[1.0, 0.1e308], [1.0, 1.6e308]]))["gap"]["half_width"] is None
