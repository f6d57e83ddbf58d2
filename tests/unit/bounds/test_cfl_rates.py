"""Constants of the CFL rates with client drifts that cancel, anywhere in their space and not only along sweeps."""

import importlib

import numpy as np
import pytest

from fltheory.bounds.cfl._rate_sweeps import BASE
from fltheory.bounds.cfl._rates import RateSetting
from fltheory.bounds.claim import Rejected
from fltheory.validation.evaluate import holds, read

POINTS = 60


def _spread(rng, low, high):
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _environments(setting, sources, seed):
    """Yield quantities at random points with two groups, every source present or not."""
    rng = np.random.default_rng(seed)
    made = 0
    while made < POINTS:
        sizes = {source: _spread(rng, 0.01, 1e4) * rng.integers(2) for source in sources}
        if not any(sizes.values()):
            continue
        point = {
            **BASE,
            **sizes,
            "T": int(_spread(rng, 8, 4096)),
            "N": int(rng.integers(2, 10)),
            "K": int(_spread(rng, 2, 40)),
            "B": _spread(rng, 0.01, 1),
            "kappa": _spread(rng, 1, 1e4) if setting.strongly else 1.0,
            "F": _spread(rng, 0.1, 1e4),
        }
        try:
            yield setting.quantities(point, (), ())
        except Rejected:
            continue
        made += 1


@pytest.mark.parametrize("theorem", ["4_1", "4_3", "4_5"])
@pytest.mark.parametrize("strongly", [False, True])
def test_rates_of_drifts_that_cancel_have_moderate_constants(theorem, strongly):
    """The start alone needs about ``1 / eta_max``, some seven rounds per unit; nothing needs more."""
    claim = importlib.import_module(f"fltheory.bounds.cfl.theorem_{theorem}_{'sc' if strongly else 'gc'}").claim
    setting = RateSetting(remembers=theorem == "4_1", strongly=strongly)
    sources = ("G", "sigma") if theorem == "4_5" else ("D", "G", "sigma")
    upper, lower = claim.form("corrected@cancelling"), claim.form("sharp@client-drift")
    held = 0
    for env in _environments(setting, sources, seed=7):
        reading = read(upper, env)
        assert reading.lhs <= 8 * reading.rhs
        if env["G"] > 0 and all(holds(a, lower, env) for a in claim.assumptions_of(lower)):
            held += 1
            assert not read(lower, env).violated
    assert held > 5
