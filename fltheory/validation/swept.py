"""Words for what the sweeps of rates vary, where the name of the generator's parameter is not a symbol of the paper."""

from __future__ import annotations

WORDS = {
    "apart": "distance of the minimisers",
    "condition": "L/mu",
    "eta_max": "largest step",
    "finer": "1/accuracy",
    "idle": "1/probability of any work",
    "inverse": "1/mixing rate",
    "inverse_epsilon": "1/epsilon",
    "inverse_mu": "1/mu",
    "inverse_y": "1/y",
    "more": "number of rounds",
    "noise": "variance of the noise",
    "pull": "dissimilarity of the gradients",
    "rarely": "1/probability of work",
    "scale": "smoothness",
    "seldom": "1/probability of absence",
    "slow": "slowness of the slow rounds",
    "spread": "distance of the minimisers",
    "start": "distance of the start",
    "start_sq": "squared distance of the start",
    "steep": "steepness of the steep axis",
}
"""Parameters of generators, with what a reader calls them."""


def named(parameter: str, *, power: bool = False) -> str:
    """Return what a reader calls a parameter of a sweep, in brackets if a power of it follows.

    >>> named("kappa"), named("inverse_mu"), named("inverse_mu", power=True)
    ('kappa', '1/mu', '(1/mu)')
    """
    words = WORDS.get(parameter, parameter)
    return f"({words})" if power and words != parameter else words
