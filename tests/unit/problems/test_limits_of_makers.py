"""What the makers of problems accept for their parameters, and where it ends."""

import math

import pytest

from fltheory import client_quadratics, noisy_quadratic
from fltheory.errors import InvalidParameter
from fltheory.logistic import controlled_logistic, logistic_clients, synthetic

TINY = 1e-9

MAKERS = {
    synthetic: {
        "alpha": 1.0,
        "beta": 1.0,
        "num_clients": 2,
        "num_features": 2,
        "num_classes": 2,
        "min_size": 4,
        "max_size": 6,
        "seed": 0,
    },
    logistic_clients: {"num_clients": 2, "num_features": 2, "samples": 4, "seed": 0},
    controlled_logistic: {"num_clients": 2, "num_features": 2, "samples": 6, "round_drift_sq": 0.0},
    noisy_quadratic: {"num_clients": 2, "dim": 2},
    client_quadratics: {"num_clients": 2, "dim": 2},
}

# Accepted and refused values next to the end of what is allowed.
COUNT, PAIR = ((1, 2), (0, -1, 1.0, True, None)), ((2, 3), (1, 2.0, None))
NOT_NEGATIVE = ((0, 0.5), (-TINY, math.inf, math.nan, "1"))
BOOLEAN = ((True, False), (0, 1, None, "yes"))

LIMITS = {
    synthetic: {
        "alpha": NOT_NEGATIVE,
        "beta": NOT_NEGATIVE,
        "num_clients": COUNT,
        "num_features": COUNT,
        "num_classes": PAIR,
        "iid": BOOLEAN,
        "intercept": BOOLEAN,
        "test_share": ((0, 0.5), (-TINY, 1, math.nan)),
        "convention": (("code", "paper"), ("print", 1)),
        "sizes": (("lognormal", "equal"), ("normal", 1)),
        "min_size": ((1, 6), (0, 1.0)),
        "max_size": ((4, 9), (3, 4.5)),
    },
    logistic_clients: {
        "num_clients": COUNT,
        "num_features": COUNT,
        "samples": ((1, 3, [1, 2]), (0, 1.5, [1, 0])),
        "signal": NOT_NEGATIVE,
        "feature_shift": NOT_NEGATIVE,
        "label_shift": NOT_NEGATIVE,
        "intercept": BOOLEAN,
    },
    controlled_logistic: {
        "num_features": COUNT,
        "num_classes": PAIR,
        "mu": ((0.5,), (0, -1.0, math.nan)),
        "client_drift_by": (("rotation", "tilt"), ("turn", 1)),
        "client_drift_centred": BOOLEAN,
        "scenario": (("S2",), ("S3", 1)),
        "signal": NOT_NEGATIVE,
        "intercept": BOOLEAN,
        "round_drift_by": (("labels", "tilt"), ("label", 1)),
    },
    noisy_quadratic: {
        "num_clients": COUNT,
        "dim": ((2, 3), (0, 1.5, True)),
        "mu": ((0, 5.0), (-TINY, 5.1)),
        "L": ((1.0, 7.0), (0, -1.0)),
        "radius": NOT_NEGATIVE,
        "client_drift_sq": NOT_NEGATIVE,
        "round_drift_sq": NOT_NEGATIVE,
        "noise_sq": NOT_NEGATIVE,
        "client_growth": ((0, 1), (-TINY, 1 + TINY)),
        "round_growth": ((0, 1), (-TINY, 1 + TINY)),
        "client_drift_centred": BOOLEAN,
        "scenario": (("S1", "S2"), ("S3", 1)),
        "rotated": BOOLEAN,
    },
    client_quadratics: {
        "num_clients": COUNT,
        "dim": ((2, 3), (0, 1.5, True)),
        "commuting": BOOLEAN,
        "mu": ((0, 5.0), (-TINY, 5.1)),
        "L": ((1.0, 7.0), (0, -1.0)),
        "dissimilarity": ((0, 4.0), (-TINY, 4.0 + 1e-6)),
        "spread": NOT_NEGATIVE,
        "radius": NOT_NEGATIVE,
        "noise_sq": NOT_NEGATIVE,
    },
}

# What has to be otherwise for a value to be allowed.
BESIDE = {
    (noisy_quadratic, "num_clients", 1): {"client_drift_sq": 0.0},
    (client_quadratics, "num_clients", 1): {"dissimilarity": 0.0, "spread": 0.0},
    (client_quadratics, "mu", 5.0): {"dissimilarity": 0.0},
    (client_quadratics, "L", 1.0): {"dissimilarity": 0.0},
    (controlled_logistic, "num_features", 1): {"client_drift_by": "tilt"},
    (noisy_quadratic, "client_growth", 1): {"client_drift_centred": False},
}


@pytest.mark.parametrize(
    ("make", "parameter"),
    [(make, name) for make, names in LIMITS.items() for name in names],
    ids=lambda x: getattr(x, "__name__", x),
)
def test_limits(make, parameter):
    usual, (inside, outside) = MAKERS[make], LIMITS[make][parameter]
    for value in inside:
        beside = {} if isinstance(value, list) else BESIDE.get((make, parameter, value), {})
        assert make(**{**usual, **beside, parameter: value}).num_clients >= 1
    for value in outside:
        with pytest.raises(InvalidParameter, match=rf"{make.__name__}\.{parameter} must"):
            make(**{**usual, parameter: value})
