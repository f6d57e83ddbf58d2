r"""Corollary 4.0.2: near the old minimiser an extra step of the arriving client helps.

Client :math:`l` arrives; the objective :math:`F` with minimiser :math:`w^*` becomes
:math:`\tilde F = (1-\tilde p^l) F + \tilde p^l F_l` with minimiser :math:`\tilde w^*`. With :math:`W` a bound on
:math:`\|\nabla F(w)\|` and :math:`\|\nabla^2 F(w)\|_2`, as published: if

.. math:: \|w - w^*\| < \frac{\tilde F(w^*) - \tilde F(\tilde w^*)}
   {\bigl(\frac{2\sqrt{2L}}{\mu}\tilde p^l\sqrt{\Gamma_l} + 1\bigr)\tilde p^l W} ,

then some :math:`\delta^l > 0` makes :math:`w' = w - \delta^l\nabla F_l(w)` closer to :math:`\tilde w^*` than
:math:`w` is. Since
:math:`\|w' - \tilde w^*\|^2 = \|w - \tilde w^*\|^2 - 2\delta^l\langle w - \tilde w^*, \nabla F_l(w)\rangle +
(\delta^l)^2\|\nabla F_l(w)\|^2`,
such a :math:`\delta^l` exists if and only if :math:`\langle w - \tilde w^*, \nabla F_l(w)\rangle > 0`. What is
evaluated is the same in another form: with :math:`u` a multiple of :math:`\nabla F_l(w)` about as long as
:math:`w - \tilde w^*`, going by :math:`-u` ends nearer to :math:`\tilde w^*` than going by :math:`u`.

**Reading.** No strongly convex function has a bounded gradient everywhere, and :math:`\nabla F(w^*) = 0`. So
:math:`W` bounds both norms on a box that holds :math:`w`, :math:`w^*`, :math:`\tilde w^*` and the minimisers of all
clients.

**Where it fails.** The proof bounds :math:`\nabla F_l` and :math:`\nabla^2 F_l` by :math:`W`, the statement bounds
those of :math:`F`. A flat :math:`F` and a curved :math:`F_l` make the printed radius too large: in one dimension with
:math:`F = \frac\mu2 w^2`, :math:`F_l = \frac L2(w-1)^2`, :math:`L > 2\mu` and a small :math:`\tilde p^l` the radius
reaches beyond :math:`\tilde w^*`, and there the extra step leads away from it.

**Derivation of the corrected form.** With :math:`W_l` a bound on :math:`\|\nabla F_l\|` and
:math:`\|\nabla^2 F_l\|_2` on the segment from :math:`w^*` to :math:`w`, every step of (86) and (87) is right. It also
follows from the sharp form, whose radius is at least as large since :math:`\|\nabla F_l(w^*)\| \le W_l`.

**Derivation of the sharp form.** Convexity at :math:`w` and at :math:`w^*` gives

.. math:: \langle w - \tilde w^*, \nabla F_l(w)\rangle \ge F_l(w) - F_l(\tilde w^*)
   \ge F_l(w^*) - F_l(\tilde w^*) - \|\nabla F_l(w^*)\|\,\|w - w^*\| .

Since :math:`F(\tilde w^*) \ge F(w^*)`,
:math:`\tilde p^l\,(F_l(w^*) - F_l(\tilde w^*)) \ge \tilde F(w^*) - \tilde F(\tilde w^*)`, and
:math:`\tilde p^l\nabla F_l(w^*) = \nabla\tilde F(w^*)` as :math:`\nabla F(w^*) = 0`. So

.. math:: \|w - w^*\| < \frac{\tilde F(w^*) - \tilde F(\tilde w^*)}{\|\nabla\tilde F(w^*)\|}

suffices: no :math:`L`, no :math:`\mu`, no Hessian, and only quantities of the new objective at the old minimiser. The
constant 1 cannot be improved: in one dimension the step helps only before :math:`\tilde w^*`, and if
:math:`\tilde F'` stays near its value at :math:`w^*` until shortly before :math:`\tilde w^*` and then rises steeply,
which takes a large condition number, the radius comes as close to :math:`|w^* - \tilde w^*|` as one likes. On the way
one also sees that the step helps wherever :math:`F_l(w) > F_l(\tilde w^*)`.

**On the fly.** Section 4.2 says that in practice the extra step is part of the round: the coefficient of the arriving
client is raised to :math:`\tilde p^l + \delta^l`, at first by a factor of 3 (section 5.3). What is then compared are
two runs, with and without fast reboot. After one round of one step with learning rate :math:`\eta` the squared
distances to :math:`\tilde w^*` differ by

.. math:: 4\eta\tilde p^l\Bigl(\eta\langle\nabla\tilde F(w), \nabla F_l(w)\rangle + \eta\tilde p^l\|\nabla F_l(w)\|^2
   - \langle w - \tilde w^*, \nabla F_l(w)\rangle\Bigr) ,

so for small :math:`\eta` fast reboot helps where the extra step does, and the published sphere is too large for it in
the same way (``published@on-the-fly``, at :math:`\eta \le \frac{1}{1000L}`; where it fails, the inner product is
negative, and no smaller rate would help). With the lower bound on the inner product from the sharp form a rule follows
that says how small :math:`\eta` has to be (``corrected@on-the-fly``, :math:`\eta \le \frac{1}{2L}`): fast reboot ends
nearer to :math:`\tilde w^*` if

.. math:: \|\nabla\tilde F(w^*)\|\,\|w - w^*\| + \eta\tilde p^l\bigl(\langle\nabla\tilde F(w), \nabla F_l(w)\rangle +
   \tilde p^l\|\nabla F_l(w)\|^2\bigr) < \tilde F(w^*) - \tilde F(\tilde w^*) .

Both sides of the comparison are shifted by twice
:math:`\|w_{\mathrm{plain}} - \tilde w^*\|\,\|w_{\mathrm{fast}} - w_{\mathrm{plain}}\|`, the most by which they can
differ to first order, so that small learning rates do not drown the difference.

Instances: two or three clients in the plane, with a kink in the derivative per coordinate or with turned axes;
:math:`w` around :math:`w^*` at distances comparable with :math:`\|w^* - \tilde w^*\|`. The clients that were there
before may be flatter than the arriving one by a common factor, since that is what makes the printed radius too large;
without it all clients have curvatures of the same size, and :math:`W` is about :math:`W_l`. On the fly: quadratics
without noise, everybody takes its one step; the run starts such that :math:`w` is reached in the one round before the
client arrives. There :math:`w` lies on the side of :math:`\tilde w^*`, up to a bit beyond it, where the extra step may
lead away, and :math:`\mu \ge 1`, so that the 1 in the denominator of the printed radius, which has no unit, does not
make up for the wrong :math:`W`; sample counts differ widely, for small :math:`\tilde p^l`, and condition numbers are
at least 10. Both forms are searched there.

Source: Ruan et al., AISTATS 2021, section 4.2, (7), and appendix A.5.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
from sympy import Lt, sqrt

from fltheory.algorithms.ruan import Ruan
from fltheory.bounds._algebra import Env, Inner, Norm, NormSq, scalar
from fltheory.bounds._claim import Claim, Experiments, Form, Instances, Kind, Rejected, Source
from fltheory.bounds._space import Choice, Integer, Parameter, Params, Real, Space
from fltheory.bounds._symbols import L, eta, mu, w_star
from fltheory.bounds.ruan._shift import Gamma_l, kinked, w_new, without_last
from fltheory.experiment import Experiment
from fltheory.functions import Functions, Kinked, Turned
from fltheory.participation import Arrival, Participation, Timeline
from fltheory.quadratic.problem import Quadratic
from fltheory.trajectories import Trajectories

w_now = scalar("ruan_w_now", "w", "global model when the client arrives")
share = scalar("ruan_share", r"\tilde p^l", "weight of the arriving client")
F_at_old = scalar("ruan_F_at_old", r"\tilde F(w^*)", "new objective at the old minimiser")
F_at_new = scalar("ruan_F_at_new", r"\tilde F(\tilde w^*)", "minimum of the new objective")
grad_at_old = scalar("ruan_grad_at_old", r"\nabla\tilde F(w^*)", "gradient of the new objective at the old minimiser")
u = scalar("ruan_u", "u", "positive multiple of the arriving client's gradient at the model")
W = scalar("ruan_W", "W", "bound on gradient and Hessian of the old objective")
W_l = scalar(
    "ruan_W_l", "W_l", "bound on gradient and Hessian of the arriving client between the old minimiser and the model"
)
grad_new_now = scalar("ruan_grad_new_now", r"\nabla\tilde F(w)", "gradient of the new objective at the model")
grad_l_now = scalar("ruan_grad_l_now", r"\nabla F_l(w)", "gradient of the arriving client at the model")
after_fast = scalar(
    "ruan_after_fast", r"\|w_{\mathrm{fast}} - \tilde w^*\|^2", "squared distance after a round with fast reboot"
)
moved = scalar(
    "ruan_moved", r"\|w_{\mathrm{fast}} - w_{\mathrm{plain}}\|", "by how much fast reboot moves the model in a round"
)
after_plain = scalar("ruan_after_plain", r"\|w_{\mathrm{plain}} - \tilde w^*\|^2", "the same without fast reboot")


PARAMETERS: Mapping[str, Parameter] = {
    "N": Integer(2, 3),
    "d": Integer(2, 2),
    "shape": Choice(("kinked", "turned")),
    "mu": Real(0.01, 10, log=True),
    "condition": Real(1, 1000, log=True),
    "n": Real(0.01, 100, log=True, shape=("N",)),
    "centre": Real(-1, 1, shape=("N", "d")),
    "knot": Real(-1, 1, shape=("N", "d")),
    "left": Real(0, 1, shape=("N", "d")),
    "right": Real(0, 1, shape=("N", "d")),
    "flat": Real(0.001, 1, log=True),
    "turn": Real(-1, 1, shape=("N",)),
    "reach": Real(-1.5, 1.5, shape=(2,)),
}


def functions_of(point: Params) -> tuple[Functions, Any]:
    """Return the clients' functions, and a bound on the curvature of each."""
    # Clients that were there before may all be flatter than the one that arrives.
    scale: Any = np.array([[point["flat"]]] * (point["N"] - 1) + [[1]])
    point = {**point, "left": scale * point["left"], "right": scale * point["right"]}
    if point["shape"] == "kinked":
        found = kinked(point)
        return found, np.maximum(found.left, found.right).max(axis=1)
    low, high = point["mu"], point["mu"] * point["condition"]
    eigenvalues = low + (high - low) * point["left"]
    return Turned(centre=point["centre"], eigenvalues=eigenvalues, turn=point["turn"]), eigenvalues.max(axis=1)


def realise(point: Params) -> dict[str, Any]:
    """Return both minimisers, a model near the old one, and the bounds."""
    functions, curvature = functions_of(point)
    counts, ranks = point["n"], range(point["N"])
    new, old = counts / counts.sum(), without_last(counts) / without_last(counts).sum()
    before, after = functions.minimiser(old), functions.minimiser(new)
    move, (along, across) = after - before, point["reach"]
    model = before + along * move + across * np.array([-move[1], move[0]])

    def value(w: Any) -> Any:
        return sum(new[k] * functions.value(k, w) for k in ranks)

    def gradient(weights: Any, w: Any) -> Any:
        return sum(weights[k] * functions.gradient(k, w) for k in ranks)

    # Gradients are largest at the corners: monotone in every coordinate, or linear. Sums of moduli bound norms.
    held = [model, before, after, *point["centre"]]
    corners = itertools.product(*(((min(x), max(x))) for x in zip(*held, strict=True)))
    steepest = max(_size(gradient(old, np.array(corner))) for corner in corners)
    own, own_before = functions.gradient(-1, model), functions.gradient(-1, before)
    along_segment = np.maximum(np.maximum(own, -own), np.maximum(own_before, -own_before)).sum()
    return {
        "mu": point["mu"],
        "L": point["mu"] * point["condition"],
        "w_star": before,
        "w_new": after,
        "ruan_w_now": model,
        "ruan_share": new[-1],
        "ruan_F_at_old": value(before),
        "ruan_F_at_new": value(after),
        "ruan_grad_at_old": gradient(new, before),
        "ruan_u": own * (_size(model - after) / _size(own)) if _size(own) > 0 else own,
        "Gamma_l": functions.value(-1, before),
        "ruan_W": max(steepest, (old * curvature).sum()),
        "ruan_W_l": max(along_segment, curvature[-1]),
        "ruan_grad_new_now": gradient(new, model),
        "ruan_grad_l_now": own,
    }


def _size(v: Any) -> Any:
    return np.maximum(v, -v).sum()


def quadratic(point: Params) -> Params:
    """Return the point with functions that have no kink."""
    return {**point, "shape": "kinked", "right": point["left"], "knot": point["centre"]}


def experiment(point: Params) -> tuple[Experiment, ...]:
    """Return the runs in which the last client arrives after one round, with fast reboot and without."""
    point, count = quadratic(point), point["N"]
    functions, _ = functions_of(point)
    assert isinstance(functions, Kinked)
    hessian, rate = functions.left, point["rate"] / (point["mu"] * point["condition"])
    old, known = without_last(point["n"]) / without_last(point["n"]).sum(), realise(point)
    contraction = 1 - rate * old @ hessian
    problem = Quadratic(
        hessian=hessian,
        linear=-hessian * functions.centre,
        constant=0.5 * (hessian * functions.centre**2).sum(axis=1),
        sample_counts=point["n"],
        noise_sq=np.zeros(count),
        start=known["w_star"] + (known["ruan_w_now"] - known["w_star"]) / contraction,
    )
    arrivals = [Arrival(client=count - 1, round=1, fast_reboot=fast) for fast in (True, False)]
    return tuple(
        Experiment(
            problem=problem,
            algorithm=Ruan(scheme="C"),
            participation=Participation(num_clients=count, local_steps=1, timeline=Timeline(arrivals=(arrival,))),
            rounds=2,
            rate=rate,
        )
        for arrival in arrivals
    )


def quantities(point: Params, made: tuple[Experiment, ...], runs: tuple[Trajectories, ...]) -> Env:
    """Return the letters, with the distances that the runs have reached."""
    fast, plain = runs
    apart = fast.curve("model_mean")[0, -1] - plain.curve("model_mean")[0, -1]
    found = realise(quadratic(point)) | {
        "ruan_w_now": plain.curve("model_mean")[0, 1],
        "ruan_after_fast": fast.distance_sq[0, -1],
        "ruan_after_plain": plain.distance_sq[0, -1],
        "ruan_moved": float(np.sqrt((apart**2).sum())),
        "eta": made[0].rate_at(1),
    }
    if found["ruan_moved"] ** 2 < 1e-18 * (found["ruan_w_now"] ** 2).sum():
        raise Rejected("the runs differ by rounding only")
    return found


def on_the_fly(largest: float) -> Experiments:
    """Return arrivals with learning rates up to a multiple of 1/L."""
    space = {
        **{name: PARAMETERS[name] for name in ("N", "d", "centre", "left")},
        "mu": Real(1, 1000, log=True),
        "condition": Real(10, 1000, log=True),
        "n": Real(0.001, 1000, log=True, shape=("N",)),
        "flat": Real(0.001, 0.1, log=True),
        "reach": Real(0, 1.5, shape=(2,)),
        "rate": Real(1e-4, largest, log=True),
    }
    return Experiments(space=Space(space), experiment=experiment, quantities=quantities, moments=True, effort=3)


def sphere(bound: Any) -> Any:
    """Return the published condition with a given bound on gradient and Hessian."""
    radius = (F_at_old - F_at_new) / ((2 * sqrt(2 * L) / mu * share * sqrt(Gamma_l) + 1) * share * bound)
    return Lt(Norm(w_now - w_star), radius)


most = 2 * sqrt(after_plain) * moved
faster = Lt(most + after_fast - after_plain, most)
helps = Lt(Norm(w_now - u - w_new), Norm(w_now + u - w_new))

claim = Claim(
    id="ruan.corollary-4.0.2",
    kind=Kind.RULE,
    title="fast reboot helps near the old minimiser",
    source=Source("ruan", "Corollary 4.0.2, (7)"),
    forms=(
        Form(
            statement=helps,
            premises=(sphere(W),),
            note="the bound W is taken on a box that holds all points in question",
        ),
        Form(
            variant="corrected",
            statement=helps,
            premises=(sphere(W_l),),
            note="gradient and Hessian of the arriving client, as the proof needs, in place of the old objective's",
        ),
        Form(
            variant="sharp",
            statement=helps,
            premises=(Lt(Norm(w_now - w_star) * Norm(grad_at_old), F_at_old - F_at_new),),
            note="a larger sphere, from quantities of the new objective at the old minimiser alone",
        ),
        Form(
            variant="published@on-the-fly",
            statement=faster,
            premises=(sphere(W),),
            check=on_the_fly(0.001),
            note="one round of runs with and without fast reboot, small learning rates",
        ),
        Form(
            variant="corrected@on-the-fly",
            statement=faster,
            premises=(
                Lt(
                    Norm(w_now - w_star) * Norm(grad_at_old)
                    + eta * share * (Inner(grad_new_now, grad_l_now) + share * NormSq(grad_l_now)),
                    F_at_old - F_at_new,
                ),
            ),
            check=on_the_fly(0.5),
            note="the larger sphere, and how small the learning rate has to be",
        ),
    ),
    uses=("ruan.lemma-a.4", "ruan.theorem-3.2-arrival"),
    check=Instances(
        space=Space(PARAMETERS),
        realise=realise,
    ),
)
