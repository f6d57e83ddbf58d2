r"""Equation (2): the aggregation written with local models and with gradients.

Client :math:`k` takes :math:`s_\tau^k` steps (1),
:math:`w_{\tau E+i+1}^k = w_{\tau E+i}^k - \eta_\tau g_{\tau E+i}^k` for :math:`i = 0, \dots, s_\tau^k - 1`, from the
global model, and the server aggregates; as published

.. math:: w_{(\tau+1)E}^{\mathcal G} = w_{\tau E}^{\mathcal G}
   + \sum_{k=1}^N p_\tau^k \bigl(w_{\tau E + s_\tau^k} - w_{\tau E}^{\mathcal G}\bigr)
   = w_{\tau E}^{\mathcal G} - \sum_{k=1}^N p_\tau^k \sum_{i=0}^{s_\tau^k} \eta_\tau g_{\tau E+i}^k .

Both lines are claimed. The first defines the algorithm (its local model lacks the index :math:`k` in print). The
second adds one gradient too many, :math:`g_{\tau E + s_\tau^k}^k`, at the model that the client returns. Under scheme
B even an inactive client would move the global model.

**Derivation of the corrected form.** Adding up (1) gives :math:`w_{\tau E + s_\tau^k}^k - w_{\tau E}^{\mathcal G} =
-\sum_{i=0}^{s_\tau^k - 1} \eta_\tau g_{\tau E+i}^k`: the inner sum ends at :math:`s_\tau^k - 1`.

Instances: one round of the package's own algorithm, schemes A, B and C, on a quadratic without noise, from its
reference oracle; the gradients in the formula are those of the oracle at the local models after :math:`i` steps. All
numbers are multiples of small powers of two, so that float64 makes no error in them.

Source: Ruan et al., AISTATS 2021, section 3.1, (2).
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from sympy import Eq, Sum

from fltheory.algorithms.ruan import Ruan
from fltheory.bounds.claim import Citation, Claim, Form, Instances, Kind
from fltheory.bounds.flexible_participation.symbols import p_tau, s_tau
from fltheory.bounds.quantities import family, scalar
from fltheory.bounds.space import Choice, ExactPoint, Integer, Integers, Params, Space, exact, ratio
from fltheory.bounds.symbols import N, eta, i, k
from fltheory.participation.schemes import Scheme, scheme_weights
from fltheory.problems.oracle import Round
from fltheory.quadratic.problem import Quadratic

w_sent = scalar(
    "w_sent", r"w_{\tau E}^{\mathcal{G}}", "global model that the server broadcasts in the round", shape=("dim",)
)
w_next = scalar(
    "w_next",
    r"w_{(\tau+1)E}^{\mathcal{G}}",
    "global model after the round, as the algorithm computes it",
    shape=("dim",),
)
w_back = family("w_back", r"w_{\tau E + s_\tau^{<0>}}", "model that a client returns", shape=("clients", "dim"))
g_step = family(
    "g_step",
    r"g_{\tau E+<1>}^{<0>}",
    "gradient of a client after some steps of the round",
    first=(1, 0),
    shape=("clients", "steps", "dim"),
)

TOTAL = 16
"""Samples of all clients together; a power of two, which keeps weights exact."""


def problem(point: Params) -> Quadratic:
    """Return a quadratic without noise; the last client's samples complete the total."""
    curvature, centre = (np.asarray(point[name], dtype=float) for name in ("curvature", "centre"))
    samples = np.array(point["samples"], dtype=int)
    samples[-1] = TOTAL - samples[:-1].sum()
    return Quadratic(
        hessian=curvature,
        linear=-curvature * centre,
        constant=np.zeros(len(centre)),
        sample_counts=samples,
        noise_sq=np.zeros(len(centre)),
        start=np.asarray(point["start"], dtype=float),
    )


def terms(point: Params, federation: Quadratic, steps: Any, number: int) -> Round:
    """Return the terms of one round; the rate is halved from round to round."""
    return Round(
        index=number,
        rates=(0.5 ** (point["halvings"] + number),),
        local_steps=point["E"],
        p=federation.weights,
        steps=np.asarray(steps, dtype=int)[None],
        weights=federation.weights[None],
        boost=np.ones(len(steps)),
    )


def coefficients(point: Params, work: Round) -> Any:
    """Return the aggregation coefficients of the scheme, shape ``(clients,)``."""
    return scheme_weights(Scheme(point["scheme"]), work.p, work.steps[0], work.local_steps)


def numbers(point: Params, values: Any) -> Any:
    """Return floats in the arithmetic of the point; dyadic floats are what they say."""
    return exact({"values": values})["values"] if isinstance(point, ExactPoint) else values


def parameters(more: dict[str, Any]) -> Space:
    """Return the parameters of a quadratic and of a scheme, and more."""
    return Space(
        {
            "N": Integer(1, 3),
            "d": Integer(1, 2),
            "E": Integer(1, 3),
            "halvings": Integer(1, 3),
            "scheme": Choice(("A", "B", "C")),
            "curvature": Integers(1, 4, shape=("N", "d")),
            "centre": Integers(0, 5, shape=("N", "d")),
            "start": Integers(0, 5, shape=("d",)),
            "samples": Integers(1, 5, shape=("N",)),
            **more,
        }
    )


def realise(point: Params) -> dict[str, Any]:
    """Return one round of the algorithm, and the gradients at all local models."""
    federation = problem(point)
    oracle = federation.reference_oracle(seed=0, replicates=range(1))
    work = terms(point, federation, point["steps"], 0)
    algorithm, start = Ruan(scheme=point["scheme"]), federation.start[None]
    outcome = algorithm.round(algorithm.init(start, oracle, work.p), oracle, work)
    gradients = []
    for done in range(point["E"] + 1):
        so_far = dataclasses.replace(work, steps=np.minimum(work.steps, done))
        gradients.append(oracle.gradient(oracle.local_steps(start[:, None], so_far))[0])
    return {
        "N": point["N"],
        "eta": ratio(point, 1, 2 ** point["halvings"]),
        "s_tau": point["steps"],
        "p_tau": numbers(point, coefficients(point, work)),
        "w_sent": numbers(point, start[0]),
        "w_next": numbers(point, outcome.state.w[0]),
        "w_back": numbers(point, outcome.local[0]),
        "g_step": numbers(point, np.array(gradients).swapaxes(0, 1)),
    }


def lines(last: Any) -> tuple[Any, ...]:
    """Return both lines; the inner sum ends at ``last``."""
    models = w_sent + Sum(p_tau[k] * (w_back[k] - w_sent), (k, 1, N))
    gradients = w_sent - Sum(p_tau[k] * Sum(eta * g_step[k, i], (i, 0, last)), (k, 1, N))
    return Eq(w_next, models, evaluate=False), Eq(w_next, gradients, evaluate=False)


claim = Claim(
    id="ruan.eq-2",
    kind=Kind.IDENTITY,
    title="aggregation of models and of gradients agree",
    citation=Citation("ruan", "section 3.1, (2)"),
    forms=(
        Form(statement=lines(s_tau[k])),
        Form(
            variant="corrected",
            intended=("published",),
            statement=lines(s_tau[k] - 1),
            note="s steps use the gradients 0 to s - 1",
        ),
    ),
    check=Instances(space=parameters({"steps": Integers(0, "E", shape=("N",))}), realise=realise),
)
