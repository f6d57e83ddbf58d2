r"""Lemma A.1: the virtual sequence meets the global model at the end of every round.

The proof of Theorem 3.1 spreads the :math:`s_\tau^k` steps of a client over the :math:`E` times of a round:
:math:`\alpha_{\tau E+i}^k \in \{0, 1\}` tells whether client :math:`k` takes step (10),
:math:`w_{\tau E+i+1}^k = w_{\tau E+i}^k - \eta_\tau g_{\tau E+i}^k \alpha_{\tau E+i}^k`, and

.. math:: \bar w_0 = w_0^{\mathcal G}, \qquad
   \bar w_{\tau E+i+1} = \bar w_{\tau E+i} - \eta_\tau
   \sum_{k=1}^N p_\tau^k g_{\tau E+i}^k \alpha_{\tau E+i}^k . \tag{12}

The lemma says :math:`\bar w_{\tau E} = w_{\tau E}^{\mathcal G}` for all :math:`\tau`. What the global model is can be
read in two ways. With the algorithm, the first line of (2), the lemma is right (``published@eq-2``). With the formula
that the text puts in its place,

.. math:: w_{(\tau+1)E}^{\mathcal G}
   = w_{\tau E}^{\mathcal G} - \sum_{k=1}^N p_\tau^k
   \sum_{i=0}^{E} \eta_\tau g_{\tau E+i}^k \alpha_{\tau E+i}^k , \tag{11}

it is not (``published@eq-11``): the sum ends one term too late, as in (2), and that term belongs to the first time of
the next round. It vanishes only if every client pauses then. The proof itself sums to :math:`E - 1`. The text has the
same slip where it introduces :math:`\sum_{i=0}^{E} \alpha_{\tau E+i}^k = s_\tau^k`, for variables whose last index it
gives as :math:`E - 1`.

**Derivation of the corrected form.** With :math:`\sum_{i=0}^{E-1} \alpha_{\tau E+i}^k = s_\tau^k` and the inner sum
of (11) up to :math:`E - 1`, both (11) and the algorithm move by :math:`-\eta_\tau \sum_k p_\tau^k` times the sum of
the :math:`s_\tau^k` gradients at the successive local models, since a pause repeats no step; and so do :math:`E`
steps of (12). Induction over :math:`\tau` starts from :math:`\bar w_0 = w_0^{\mathcal G}`.

Instances: one or two rounds of the package's own algorithm, schemes A, B and C, on a quadratic without noise, with
any pattern of pauses; (10), (11) and (12) use the gradients of its reference oracle. In (11) :math:`g_{\tau E+E}^k`
is the gradient at the model that the client returns. All numbers are multiples of small powers of two, so that
float64 makes no error in them.

Source: Ruan et al., AISTATS 2021, appendix A.1.1, Lemma A.1 with (10) to (13).
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from sympy import Eq

from fltheory.algorithms.ruan import Ruan
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.quantities import family, scalar
from fltheory.bounds.ruan.eq_2 import coefficients, numbers, parameters, problem, terms
from fltheory.bounds.space import Integer, Integers, Params
from fltheory.bounds.symbols import E, tau

w_virtual = family("w_virtual", r"\bar w_{<0>}", "virtual global model at a time", first=0, shape=("times", "dim"))
w_global = family(
    "w_global", r"w_{<0> E}^{\mathcal{G}}", "global model at the start of a round", first=0, shape=("rounds", "dim")
)
w_summed = family(
    "w_summed",
    r"w_{<0> E}^{\mathcal{G},(11)}",
    "global model by (11) with the inner sum up to E - 1",
    first=0,
    shape=("rounds", "dim"),
)
T = scalar("rounds_run", "T", "number of rounds run", domain="integer>=0")


def formula(point: Params, last: int) -> tuple[Any, Any]:
    """Return the virtual models of all times and the global models by (11), the inner sum ending at ``last``."""
    federation = problem(point)
    oracle = federation.reference_oracle(seed=0, replicates=range(1))
    pattern, steps = np.asarray(point["pattern"], dtype=int), point["E"]
    virtual, models = [federation.start], [federation.start]
    for number in range(len(pattern) - 1):
        oracle.begin_round(number)
        work = terms(point, federation, pattern[number].sum(axis=1), number)
        weights = work.rate * coefficients(point, work)
        local = np.tile(models[-1], (1, point["N"], 1))
        moved = 0 * federation.start
        for time in range(steps + 1):
            round_of, step = divmod(number * steps + time, steps)
            worked = pattern[round_of, :, step, None] * oracle.gradient(local)[0]
            if time < steps:
                virtual.append(virtual[-1] - weights @ worked)
                local = local - work.rate * worked
            if time <= last:
                moved = moved + weights @ worked
        models.append(models[-1] - moved)
    return np.array(virtual), np.array(models)


def algorithm(point: Params) -> Any:
    """Return the global models of the algorithm, shape ``(rounds + 1, dim)``."""
    federation, pattern = problem(point), np.asarray(point["pattern"], dtype=int)
    oracle = federation.reference_oracle(seed=0, replicates=range(1))
    rule = Ruan(scheme=point["scheme"])
    state = rule.init(federation.start[None], oracle, federation.weights)
    models = [federation.start]
    for number in range(len(pattern) - 1):
        oracle.begin_round(number)
        state = rule.round(state, oracle, terms(point, federation, pattern[number].sum(axis=1), number)).state
        models.append(state.w[0])
    return np.array(models)


def realise(reading: str, point: Params) -> dict[str, Any]:
    """Return both sequences; ``reading`` says what the global model is."""
    virtual, summed = formula(point, point["E"] - (reading != "eq-11"))
    return {
        "E": point["E"],
        "rounds_run": len(point["pattern"]) - 1,
        "w_virtual": numbers(point, virtual),
        "w_summed": numbers(point, summed),
        "w_global": numbers(point, summed if reading == "eq-11" else algorithm(point)),
    }


def checked(reading: str) -> Instances:
    """Return instances for one reading of the global model."""
    # One pattern more than rounds: (11) as printed looks at the first time of the next round.
    more = {"patterns": Integer(2, 3), "pattern": Integers(0, 1, shape=("patterns", "N", "E"))}
    return Instances(space=parameters(more), realise=functools.partial(realise, reading))


meets = Eq(w_virtual[tau * E], w_global[tau], evaluate=False)
rounds = ((tau, 0, T),)

claim = Claim(
    id="ruan.lemma-a.1",
    kind=Kind.IDENTITY,
    title="the virtual sequence meets the global model",
    citation=Citation("ruan", "Lemma A.1, (13)"),
    forms=(
        Form(
            variant="published@eq-2",
            statement=meets,
            over=rounds,
            check=checked("eq-2"),
            note="the global model is that of the algorithm, first line of (2)",
        ),
        Form(
            variant="published@eq-11",
            statement=meets,
            over=rounds,
            check=checked("eq-11"),
            note="the global model follows (11) as printed",
        ),
        Form(
            variant="corrected",
            intended=("published@eq-11",),
            statement=(meets, Eq(w_summed[tau], w_global[tau], evaluate=False)),
            over=rounds,
            check=checked("eq-2"),
            note="the inner sum of (11) ends at E - 1; then it is the algorithm",
        ),
    ),
    uses=("ruan.eq-2",),
    check=checked("eq-2"),
)
