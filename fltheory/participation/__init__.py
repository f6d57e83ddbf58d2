"""Who works in a round, how many local steps each completes, and how much each result counts.

A :class:`Participation` is made of three independent parts: a *selection* (who is asked), a *step law* (how
many of the assigned steps an asked client completes) and a *timeline* (who arrives or departs, and when).
:mod:`fltheory.participation.schemes` has the aggregation weights of flexible participation,
:mod:`fltheory.participation.moments` their exact moments.
"""

from fltheory.participation._participation import Draw, Outcomes, Participation
from fltheory.participation.schemes import Scheme, scheme_weights
from fltheory.participation.selection import (
    Bernoulli,
    BySize,
    Everyone,
    Selection,
    WithoutReplacement,
    WithReplacement,
)
from fltheory.participation.steps import (
    BernoulliSteps,
    FullSteps,
    StepCounts,
    StepLaw,
    TimeVarying,
    Trace,
    UniformSteps,
)
from fltheory.participation.timeline import Arrival, Departure, Timeline

__all__ = [
    "Arrival",
    "Bernoulli",
    "BernoulliSteps",
    "BySize",
    "Departure",
    "Draw",
    "Everyone",
    "FullSteps",
    "Outcomes",
    "Participation",
    "Scheme",
    "Selection",
    "StepCounts",
    "StepLaw",
    "TimeVarying",
    "Timeline",
    "Trace",
    "UniformSteps",
    "WithReplacement",
    "WithoutReplacement",
    "scheme_weights",
]
