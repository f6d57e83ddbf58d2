"""Noises with a given variance, participation laws, compressors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from fltheory._internal import arguments
from fltheory._internal.arguments import Floats
from fltheory.communication.compression import TIES, SparseTernary
from fltheory.participation import BernoulliSteps, FullSteps, Participation, StepCounts, UniformSteps
from fltheory.participation.steps import StepLaw


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Noise:
    """A random vector with finitely many values: mean zero, given variance; expectations are finite sums.

    Parameters
    ----------
    values
        Shape ``(outcomes, dim)``.
    chance
        Probabilities, shape ``(outcomes,)``.
    """

    values: Floats
    chance: Floats

    def expectation(self, of: Floats) -> Floats:
        """Return the expectation of something that has one value per outcome along its first axis."""
        return np.tensordot(self.chance, of, axes=1)

    @property
    def variance(self) -> float:
        """Expected squared norm."""
        return float(self.chance @ np.sum(self.values**2, axis=1))


@st.composite
def noises(draw: st.DrawFn, *, dim: int = 1, variance: float = 1.0, outcomes: int = 3) -> Noise:
    """Return noises with mean zero and ``E ||nu||^2 = variance``, both to rounding; skewed ones too.

    Parameters
    ----------
    dim
        Dimension.
    variance
        Expected squared norm, at least 0.
    outcomes
        Largest number of values, at least 2.
    """
    dim = arguments.integer("noises", "dim", dim, low=1)
    variance = arguments.real("noises", "variance", variance, low=0)
    count = draw(st.integers(2, arguments.integer("noises", "outcomes", outcomes, low=2)))
    raw = draw(npst.arrays(float, (count,), elements=st.floats(0.01, 1.0)))
    chance = raw / raw.sum()
    values = draw(npst.arrays(float, (count, dim), elements=st.floats(-1.0, 1.0, allow_subnormal=False)))
    values[0, 0] += 2.0  # otherwise all values could agree, and there would be nothing to scale
    values = values - chance @ values
    size = float(chance @ np.sum(values**2, axis=1))
    return Noise(values=values * np.sqrt(variance / size), chance=chance)


@st.composite
def participation_laws(draw: st.DrawFn, *, num_clients: int = 2, local_steps: int = 3) -> Participation:
    """Return participation models in which everyone is asked and the completed steps follow some law.

    Complete, uniform, all-or-nothing and arbitrary laws, equal for all clients or not; inactive clients included.

    Parameters
    ----------
    num_clients, local_steps
        Size of the federation, and steps assigned per round.
    """
    num_clients = arguments.integer("participation_laws", "num_clients", num_clients, low=1)
    local_steps = arguments.integer("participation_laws", "local_steps", local_steps, low=1)
    kind = draw(st.sampled_from(["full", "uniform", "bernoulli", "counts"]))
    law: StepLaw
    if kind == "full":
        law = FullSteps()
    elif kind == "uniform":
        law = UniformSteps(low=draw(st.integers(0, local_steps)))
    elif kind == "bernoulli":
        law = BernoulliSteps(probability=draw(npst.arrays(float, (num_clients,), elements=st.floats(0.05, 1.0))))
    else:
        rows = draw(st.sampled_from([1, num_clients]))
        raw = draw(npst.arrays(float, (rows, local_steps + 1), elements=st.floats(0.0, 1.0, allow_subnormal=False)))
        raw[:, -1] += 0.05  # some work is done in every round with positive probability
        law = StepCounts(pmf=raw / raw.sum(axis=1, keepdims=True))
    return Participation(num_clients=num_clients, local_steps=local_steps, steps=law)


def compressors(*, fractions: tuple[float, float] = (0.05, 1.0)) -> st.SearchStrategy[SparseTernary]:
    """Return sparse ternary compressors with both treatments of ties.

    Parameters
    ----------
    fractions
        Range of the kept fraction, inside ``(0, 1]``.
    """
    low = arguments.real("compressors", "fractions", fractions[0], low=0, high=1, open_low=True)
    high = arguments.real("compressors", "fractions", fractions[1], low=low, high=1)
    return st.builds(SparseTernary, fraction=st.floats(low, high), ties=st.sampled_from(TIES))
