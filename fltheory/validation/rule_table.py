"""A decision rule on a sample of instances: what it predicts against what comes out.

A rule says *if these premises hold, then that happens*. Searching for an instance on which it fails tells whether it is
right; the table tells how often it applies at all, and how often what it promises happens where it does not apply. The
conclusion is evaluated on every instance of the sample, whatever the premises say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from fltheory.bounds.claim import Rejected
from fltheory.bounds.space import Params
from fltheory.errors import Diverged, NotApplicable
from fltheory.validation.evaluate import defined, failing, read
from fltheory.validation.trials import Trials

Table = dict[str, dict[str, int]]
"""Counts: outer keys say what the rule predicts, inner keys what came out."""


def outcome_table(trials: Trials, sample: Iterable[Params]) -> Table:
    """Return how often the conclusion of a rule comes true on a sample, where it is predicted and where it is not."""
    claim, form = trials.claim, trials.form
    seen: Counter[tuple[bool, bool]] = Counter()
    for point in sample:
        try:
            with np.errstate(all="ignore"):
                env = trials.environment(point)
                values = defined(form, env)
                if any(failing(a.relation, a.over, values) for a in claim.assumptions_of(form)):
                    continue
                predicted = not any(failing(premise, (), values) for premise in form.premises)
                seen[predicted, not read(form, env).violated] += 1
        except (Rejected, Diverged, NotApplicable):
            continue
    return {
        "predicted": {"happens": seen[True, True], "fails": seen[True, False]},
        "not predicted": {"happens": seen[False, True], "fails": seen[False, False]},
    }


def in_words(table: Table) -> str:
    """Return a table in one sentence."""
    told, silent = table["predicted"], table["not predicted"]
    return (
        f"of {sum(told.values()) + sum(silent.values())} sampled instances the rule applies to {sum(told.values())} "
        f"and is right on {told['happens']}; elsewhere its conclusion is true on {silent['happens']} of "
        f"{sum(silent.values())}"
    )
