"""What every algorithm of the package accepts for its parameters, where it ends, and what they are if left out.

The table is written down here a second time on purpose: a default that moves changes runs, and a limit that moves lets
in what the formulas cannot take, such as a server that never steps.
"""

import math
from dataclasses import fields, replace

import pytest

from fltheory.algorithms.fedamp import FedAMP
from fltheory.configuration import registry
from fltheory.errors import InvalidParameter, NotApplicable
from tests.federations import federation, run

INF = math.inf
TINY = 1e-9

# Names of intervals: a bracket belongs to the interval, a parenthesis does not.
INTERVALS = {
    "[0, 1]": ((0, 1), (-TINY, 1 + TINY)),
    "[0, 1)": ((0, 1 - TINY), (-TINY, 1)),
    "(0, 1]": ((TINY, 1), (0, 1 + TINY)),
    "(0, 1)": ((TINY, 1 - TINY), (0, 1)),
    "[0, inf)": ((0, 1e9), (-TINY,)),
    "(0, inf)": ((TINY, 1e9), (0, -TINY)),
}

PARAMETERS = {
    "apfl": {"mixing": (0.5, "[0, 1]"), "adaptive": (False, bool)},
    "cfl-r": {
        "weighting": ("uniform", {"uniform", "geometric", "current"}),
        "forgetting": (0.9, "(0, 1)"),
        "form": ("weighted", {"weighted", "sum"}),
        "curvature": ("exact", {"exact", "diagonal", "fisher", "empirical-fisher"}),
        "gradient": ("full", {"full", "stochastic"}),
        "server_rate": (1.0, "(0, inf)"),
    },
    "continual": {
        "variant": ("naive", {"naive", "ewc"}),
        "strength": (1.0, "[0, inf)"),
        "fisher": ("fisher", {"fisher", "empirical-fisher"}),
    },
    "efl": {
        "elasticity": (0.01, "[0, inf)"),
        "fisher": ("fisher", {"fisher", "empirical-fisher"}),
        "compression": (None, "(0, 1]"),
        "bookkeeping": ("consistent", {"printed", "consistent"}),
        "ties": ("exact", {"exact", "threshold"}),
    },
    "fedamp": {
        "attraction": (0.01, "(0, inf)"),
        "cloud_rate": (0.01, "(0, inf)"),
        "bandwidth": (1.0, "(0, inf)"),
        "heuristic": (False, bool),
        "self_weight": (0.1, "[0, 1]"),
        "sharpness": (1.0, "[0, inf)"),
        "exact": (False, bool),
    },
    "fedavg": {"server_rate": (1.0, "(0, inf)")},
    "fedavgm": {"momentum": (0.9, "[0, 1)"), "server_rate": (1.0, "(0, inf)")},
    "feddyn": {"alpha": (0.1, "(0, inf)"), "exact": (False, bool)},
    "fedelasticnet-1": {
        "l1": (1e-3, "[0, inf)"),
        "l2": (0.1, "[0, inf)"),
        "epsilon": (1e-3, "[0, inf)"),
        "exact": (False, bool),
        "weights": ("design", {"design", "all", "participants"}),
    },
    "fedelasticnet-2": {
        "l1": (1e-3, "[0, inf)"),
        "l2": (0.0, "[0, inf)"),
        "epsilon": (1e-4, "[0, inf)"),
        "server_rate": (1.0, "(0, inf)"),
    },
    "fedelasticnet-3": {
        "l1": (1e-3, "[0, inf)"),
        "l2": (0.1, "(0, inf)"),
        "epsilon": (1e-3, "[0, inf)"),
        "exact": (False, bool),
        "memory_rule": ("sign", {"sign", "subgradient"}),
    },
    "fedgate": {"server_rate": (1.0, "(0, inf)")},
    "fednova": {
        "prox": (0.0, "[0, inf)"),
        "effective_steps": (None, "(0, inf)"),
        "server_momentum": (0.0, "[0, 1)"),
    },
    "fedopt": {
        "rule": ("adam", {"adagrad", "adam", "yogi"}),
        "beta_1": (0.9, "[0, 1)"),
        "beta_2": (0.99, "[0, 1)"),
        "tau": (1e-3, "(0, inf)"),
        "second_start": (None, "[0, inf)"),
        "bias_correction": (False, bool),
        "server_rate": (0.1, "(0, inf)"),
    },
    "fedprox": {"prox": (0.1, "[0, inf)"), "server_rate": (1.0, "(0, inf)")},
    "mime": {"momentum": (0.9, "[0, 1)"), "server_rate": (1.0, "(0, inf)")},
    "mimelite": {"momentum": (0.9, "[0, 1)"), "server_rate": (1.0, "(0, inf)")},
    "minibatch-sgd": {"server_rate": (1.0, "(0, inf)")},
    "pfedme": {
        "attraction": (15.0, "(0, inf)"),
        "inner_steps": (5, int),
        "inner_rate": (0.05, "(0, inf)"),
        "reset_inner": (True, bool),
        "server_mix": (1.0, "(0, inf)"),
    },
    "ruan": {"scheme": ("C", {"A", "B", "C"})},
    "scaffnew": {"probability": (0.2, "(0, 1]")},
    "scaffold": {
        "option": ("II", {"I", "II"}),
        "initial": ("zero", {"zero", "gradient"}),
        "server_rate": (1.0, "(0, inf)"),
    },
    "signsgd": {"momentum": (0.0, "[0, 1)"), "weight_decay": (0.0, "[0, inf)")},
    "vrl-sgd": {"warm_up": (False, bool)},
}

# Values that need another parameter beside them.
BESIDE = {"cfl-r": {"form": {"sum": {"weighting": "uniform"}}}}

each = pytest.mark.parametrize("name", PARAMETERS)


def inside_and_outside(allowed):
    """Return values to be accepted and values to be refused."""
    if allowed is bool:
        return (True, False), (0, 1, "yes", None)
    if allowed is int:
        return (1, 7), (0, -1, 1.0, True, "1", None)
    if isinstance(allowed, set):
        return tuple(sorted(allowed)), ("", "none of these", 1, None)
    inside, outside = INTERVALS[allowed]
    return inside, (*outside, INF, -INF, math.nan, "1", True)


@each
def test_defaults(name):
    kind = registry.algorithms()[name]
    assert {one.name: getattr(kind(), one.name) for one in fields(kind)} == {
        parameter: default for parameter, (default, _) in PARAMETERS[name].items()
    }


@each
def test_limits(name):
    kind = registry.algorithms()[name]
    for parameter, (default, allowed) in PARAMETERS[name].items():
        inside, outside = inside_and_outside(allowed)
        for value in inside:
            beside = BESIDE.get(name, {}).get(parameter, {}).get(value, {})
            assert getattr(kind(**{parameter: value}, **beside), parameter) == value
        for value in outside:
            if value is None and default is None:
                continue
            with pytest.raises(InvalidParameter, match=rf"{kind.__name__}\.{parameter} must be .*, got {parameter}="):
                kind(**{parameter: value})


def test_sums_of_cflr_are_for_uniform_weights():
    kind = registry.algorithms()["cfl-r"]
    for weighting in ("geometric", "current"):
        with pytest.raises(InvalidParameter, match=r"CFLR\.form must be 'weighted'"):
            kind(form="sum", weighting=weighting)


def test_the_cloud_of_fedamp_leaves_every_client_a_share_of_itself():
    """At the common start all attention is 1: ``clients - 1`` shares of ``cloud_rate / bandwidth`` go to the others."""
    on = federation(0, clients=4)
    run(FedAMP(cloud_rate=0.5, bandwidth=1.5), replace(on, steps=on.steps[:1]))
    with pytest.raises(
        NotApplicable, match=r"self-weight -0\.02, outside \[0, 1\]; lower cloud_rate to at most .* 0\.5"
    ):
        run(FedAMP(cloud_rate=0.51, bandwidth=1.5), on)


@pytest.mark.parametrize(
    ("name", "parameters", "reason"),
    [
        ("apfl", {"adaptive": True}, "adaptive mixing weights alpha_i"),
        ("efl", {}, ""),
        ("efl", {"compression": 0.5}, "sparse ternary compression, q = 0.5"),
        (
            "efl",
            {"compression": 0.25, "fisher": "empirical-fisher"},
            "sparse ternary compression, q = 0.25 and empirical Fisher statistics, the squared gradients at the last "
            "local models",
        ),
        ("fedamp", {"bandwidth": 2.5}, "attention weights exp(-||w_i - w_j||^2 / bandwidth), bandwidth = 2.5"),
        (
            "fedamp",
            {"heuristic": True, "sharpness": 3.0},
            "attention weights exp(sharpness * cos(w_i, w_j)), sharpness = 3",
        ),
        ("fedelasticnet-1", {"l1": 0.0, "epsilon": 0.0}, ""),
        ("fedelasticnet-1", {"l1": 0.2, "epsilon": 0.0}, "sign of the l1 term, l1 = 0.2"),
        ("fedelasticnet-2", {"l1": 0.0, "epsilon": 0.1}, "cut of small displacements, epsilon = 0.1"),
        (
            "fedelasticnet-3",
            {"l1": 0.2, "epsilon": 0.1},
            "sign of the l1 term, l1 = 0.2 and cut of small displacements, epsilon = 0.1",
        ),
    ],
)
def test_what_is_not_affine_is_named(name, parameters, reason):
    assert registry.algorithms()[name](**parameters).not_affine == reason
