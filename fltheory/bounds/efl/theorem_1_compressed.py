r"""Theorem 1 for the algorithm that is proposed, with compression in both directions.

The theorem is stated for EFL as a whole; its proof drops the residuals (:mod:`~fltheory.bounds.efl.lemma_1`). As
published, constants from the proof of the long version (:mod:`~fltheory.bounds.efl.theorem_1`),

.. math:: \mathbb E\|\omega_{\tau E}^G - \omega^*\|^2 \le \frac{C_\tau}{(\tau E+\gamma)^2} + \frac{H_\tau J}{\tau
   E+\gamma} .

Readings:

* ``published@box``: threshold rule for ties and the server's bookkeeping as printed, full participation;
* ``published@printed``: exactly :math:`k` entries, bookkeeping as printed, full participation; as a rate;
* ``published@003-box``: exactly :math:`k` entries, bookkeeping of the short version's box, full participation; as a
  rate;
* ``published@text``: the same with the bookkeeping of the text of both versions;
* ``published@consistent``: exactly :math:`k` entries, everybody moves by the compressed update;
* ``published@incomplete``: the same in the long run, with clients that complete some of their steps; as a rate.

**Why they fail.** *Ties.* If all :math:`n` coordinates of a client are alike, the threshold rule keeps all of them and
divides by :math:`k`: with :math:`m = n/k` and a first change :math:`\Delta` it sends :math:`m\Delta` and is left with
the residual :math:`(1 - m)\Delta`, of the wrong sign; the server moves by :math:`m\Delta`, broadcasts :math:`m^2\Delta`
and is left with :math:`(m - m^2)\Delta`. In the next round it moves by both residuals, so that after two rounds the
model has moved by :math:`m(3 - 2m)\Delta + m\Delta'` in all: for :math:`m = 2` away from the optimum, and for larger
:math:`m` by a growing factor. Ties are needed, which is why one half of the instances is ``flat``: random coordinates
have none, and without ties the rule is the other one. *Bookkeeping.* The server's model differs from the clients' by
the sum of all residuals (:mod:`~fltheory.bounds.efl.algorithm_1`), so it tends to another point; the constants are so
large that this shows after hundreds of rounds only. Where everybody moves by the uncompressed :math:`\Delta\omega^G`,
the copies agree, but the server's residual is applied at once and again in the next round; in the short box the
clients' residuals are so as well. A coordinate that waits :math:`m` rounds is then counted about :math:`\frac m2` times
too often. The instance has three clients in the plane with gradients :math:`(-2, 1), (1, -4), (1, 3)` at the optimum
and one entry in each message: coordinates wait for different times, what is counted twice does not cancel, and the run
tends to another point. *Consistent bookkeeping* fails in one or two rounds where the theorem fails without compression,
since the printed :math:`B_t` may be negative (:mod:`~fltheory.bounds.efl.theorem_1`), and in the long run for another
reason. *Incomplete work.* A client's residual is carried from rounds with :math:`s_t^k` steps into one in which it is
weighted by :math:`Ep^k/s_\tau^k`. A coordinate that is sent in every round counts with :math:`\mathbb E[s\cdot\frac1s]
= 1`, one that waits for long with :math:`\mathbb E[s]\,\mathbb E[\frac1s] > 1`. So clients have weights that depend on
the coordinate and on what else they have to send, and the run tends to the minimiser of another objective, at a
distance that does not vanish, although participation is homogeneous and :math:`H_\tau = 0`. The instance has three
clients in the plane with gradients :math:`(-1, 0), (1, -4), (0, 4)` at the optimum, one or four steps of four with
equal chances: the first client always sends its first coordinate, the second one now and then.

In this family the distance levels off, so that no bound which vanishes with :math:`\tau` holds for incomplete work, and
no statement of the same strength is given here. (An algorithm that compresses :math:`R^k +
\frac{E}{s_\tau^k}(\omega_{s}^k - \omega^G)` and aggregates with :math:`p^k` would not have the fault: its residuals
telescope as below.)

**Derivation of the corrected form.** Consistent bookkeeping, exactly :math:`k` of :math:`n` entries, :math:`\beta^2 =
1 - \min\{\frac1k, \frac kn\}` the contraction of :mod:`~fltheory.bounds.efl.algorithm_2`; clients complete all steps
or none, client :math:`k` with probability :math:`q_t^k` in round :math:`t`, independent of the past; so
:math:`p_t^k \in \{0, p^k\}`. Absent clients keep their residuals, so that the sum of the corrected Lemma 1 telescopes:
:math:`\tilde\omega_\tau = \omega_{\tau E}^G + R_\tau^G + \sum_kp^kR_\tau^k` moves by the clients' steps alone. Norms
are :math:`\|X\| = (\mathbb E|X|^2)^{1/2}` from here on. A residual stays with chance :math:`1 - q` and is
:math:`\Delta - \mathrm{ST}(\Delta)` otherwise; what the server receives is at most :math:`\Delta` long. So
:math:`\|R_t^k\| \le x_t^k` and :math:`\|R_t^G\| \le y_t` with :math:`x_0 = y_0 = 0` and

.. math:: (x_{t+1}^k)^2 = q_t^k\beta^2(x_t^k + \eta_tEG)^2 + (1 - q_t^k)(x_t^k)^2, \qquad y_{t+1} = \beta\Bigl(y_t +
   \sum_kp^k\sqrt{q_t^k}\,(x_t^k + \eta_tEG)\Bigr) ,

hence :math:`\|\tilde\omega_\tau - \omega_{\tau E}^G\| \le A_\tau = y_\tau + \sum_kp^kx_\tau^k`, of order
:math:`\eta_\tau G`. Now follow :mod:`~fltheory.bounds.efl.eq_64` with :math:`\tilde\omega` as virtual model. Local
models start at :math:`\omega^G`, so the drift of Lemma 3 is at most twice its bound plus :math:`2A_\tau^2\sum_k
p_\tau^k` in every step; and the gradient at the start of the round, of which convexity is used if :math:`r_\tau = 0`,
is at most :math:`G + LA_\tau` long. With :math:`W_t = \mathbb E\sum_kp_t^ks_t^k` and :math:`Q_t = \mathbb
E\sum_k\frac{(p_t^k)^2}{p^k}s_t^k`,

.. math:: \hat B_t = \mathbb E\Bigl[\sum_k(p_t^k)^2s_t^k\sigma_k^2 + 2(2+\theta)L\sum_kp_t^ks_t^kD_k\Bigr] + 2\Bigl(2 +
   \frac\mu{2(1+\theta)L}\Bigr)\Bigl(\frac{W_tA_t^2}{\eta_t^2} + E(E-1)G^2I_t\Bigr) + 2EG^2Q_t + 2(E-1)G(G + LA_t)Q_t ,

where :math:`I_t` is the expectation of the bracket of the corrected (59). The contraction and the induction are those
of Theorem 1 and give its bound :math:`f_\tau` for :math:`\tilde\omega_\tau`; finally

.. math:: \mathbb E\|\omega_{\tau E}^G - \omega^*\|^2 \le \bigl(\sqrt{f_\tau} + A_\tau\bigr)^2 .

For a client that is gone (:math:`q = 0`) its residual stays, as does :math:`A_\tau`: what it had not yet sent is lost.

Instances: one or two clients with separable quadratics without noise in up to eight dimensions, all coordinates alike
in one half of them; random step counts in up to five rounds, then fixed ones (0 included), up to 20 rounds, all
courses of participation enumerated; in one half of them clients complete all steps or none. Besides, 900 rounds in
which one client sends one of a thousand entries; without :math:`A_\tau` the corrected form fails there. Where the
bound fails within two rounds, four are run, and the box has full participation, for which the printed :math:`B_t` is
positive, so that it is the boxes that fail. In the rates, runs of up to 800 rounds, or 1600 for ``published@003-box``
and ``published@text``; for ``published@incomplete`` participation is random in all rounds, and the mean of 64 samples
is taken.

Margins near 1 come from runs that hardly move, see :mod:`~fltheory.bounds.efl.theorem_1`.

Source: EFL, Theorem 1, (7), with Algorithms 1 and 2, both versions.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
from sympy import Eq, Le, Sum, sqrt

from fltheory._internal.arguments import Floats
from fltheory.algorithms.efl import EFL
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind, Method, Sweep, Sweeps
from fltheory.bounds.efl import _compressor, _runs, theorem_1
from fltheory.bounds.efl._round import FACTOR, inner_proved, second_order, squares
from fltheory.bounds.efl._symbols import C, distance, gamma
from fltheory.bounds.flexible_participation.observed import about_efl, changing_bound, laws
from fltheory.bounds.flexible_participation.run_laws import mean_in, q_at, works_in
from fltheory.bounds.flexible_participation.symbols import mean_ps_at, p_drawn, s_drawn
from fltheory.bounds.observation import Facts, Observation, Requirement
from fltheory.bounds.quantities import family, scalar
from fltheory.bounds.space import Choice, Integer, Parameter, Params, Real, Space
from fltheory.bounds.symbols import E, G_sq, L, N, k, mu, p, t, tau
from fltheory.communication.compression import SparseTernary
from fltheory.problems.problem import Origin

A = family(
    "A_at",
    "A_{<0>}",
    "bound on what residuals hold back before a round, root mean square",
    first=0,
    shape=("rounds",),
    domain="nonnegative",
)
kept_back = family(
    "own_at",
    "x_{<0>}^{<1>}",
    "bound on the residual of a client before a round, root mean square",
    first=(0, 1),
    shape=("rounds", "clients"),
    domain="nonnegative",
)
rest = family(
    "rest_at",
    "y_{<0>}",
    "bound on the residual of the server before a round, root mean square",
    first=0,
    shape=("rounds",),
    domain="nonnegative",
)
contraction = scalar(
    "contraction",
    r"\beta^2",
    "share of a squared vector that compression leaves out at most",
    domain="probability",
)
eta_at = family(
    "eta_at", r"\eta_{<0>}", "local learning rate in a round", first=0, shape=("rounds",), domain="positive"
)
mean_B_late = family(
    "mean_B_late_at", r"\hat B_{<0>}", "second-order term of a round with residuals", first=0, shape=("rounds",)
)
B_sum_late = scalar(
    "B_sum_late",
    r"\tilde S_\tau",
    "second-order terms so far with residuals",
)
incomplete = scalar(
    "incomplete",
    r"\max_{t,k}\mathbb{P}[0 < s_t^k < E]",
    "largest chance that a client completes some steps only",
    domain="probability",
)
without_residuals = second_order(p_drawn, s_drawn, 2 * inner_proved(p_drawn, s_drawn))
squared_work = squares(p_drawn, s_drawn)


def held_back(observed: _runs.Observed, contraction: float) -> Floats:
    """Return the bound on what residuals hold back before every round, shape ``(rounds + 1,)``."""
    env, plan = observed.env, observed.plan
    weights, beta = env["p"], contraction**0.5
    own, rest = np.zeros(len(weights)), 0.0
    found = [0.0]
    for chance, rate in zip(plan.active, observed.rates, strict=True):
        grown = own + rate * env["E"] * env["G_sq"] ** 0.5
        rest = beta * (rest + float((weights * np.sqrt(chance)) @ grown))
        own = np.sqrt(chance * contraction * grown**2 + (1 - chance) * own**2)
        found.append(rest + float(weights @ own))
    return np.array(found)


def realise(
    point: Params,
    *,
    ties: str,
    bookkeeping: str,
    replicates: int = 0,
    last: bool = False,
    walks: _runs.Walks | None = None,
) -> dict[str, Any]:
    """Return the quantities of the theorem for a run with compression."""
    algorithm = EFL(elasticity=0.0, compression=point["fraction"], bookkeeping=bookkeeping, ties=ties)
    observed = _runs.observe(point, algorithm, replicates=replicates, last=last, walks=walks)
    env, plan = observed.env, observed.plan
    contracted = SparseTernary(fraction=point["fraction"]).contraction(point["d"])
    behind = held_back(observed, contracted)
    before, work = behind[:-1], plan.work[:-1]
    size, bent = env["G_sq"], env["mu"] / (2 * (1 + env["theta"]) * env["L"])
    second = (
        plan.expected(without_residuals, env)
        + 2 * (2 + bent) * work * (before / observed.rates) ** 2
        + (2 * env["E"] * size + 2 * (env["E"] - 1) * size**0.5 * (size**0.5 + env["L"] * before))
        * plan.expected(squared_work, env)
    )
    partly = [float((law["chance"] @ ((np.asarray(law["s_drawn"]) % point["E"]) > 0)).max()) for law in plan.laws]
    return env | {
        "A_at": behind,
        "contraction": contracted,
        "B_sum_late": np.cumsum(second / work**2),
        "incomplete": max(partly),
    }


def realise_books(point: Params, *, books: str, courses: dict[Any, _compressor.LongRun]) -> dict[str, Any]:
    """Return the quantities at the end of a run with another way of keeping the books; everybody takes all steps.

    The distance goes up and down, so its mean over the second half is taken, where the bound is at most four times
    that of the last round. ``courses`` are the runs so far, since those of a sweep only differ in their lengths.
    """
    (problem, start), rounds = _runs.quadratics(point), int(point["T"])
    planned = _runs.plan(point, problem, rounds)
    env = theorem_1.setting(problem, planned)
    rates = theorem_1.rates(planned, env).values
    everyone = (rounds, point["N"])
    run = {
        **{name: point[name] for name in ("N", "d", "E")},
        "T": rounds,
        "ties": "exact",
        "q": point["fraction"],
        "s": np.full(everyone, point["E"]),
        "p": np.broadcast_to(problem.weights, everyone),
        "curvature": problem.hessian,
        "centre": -problem.linear / problem.hessian,
        "start": start,
    }
    fixed = tuple(
        (name, np.asarray(run[name]).tobytes()) for name in ("N", "d", "E", "q", "curvature", "centre", "start")
    )
    course = courses.setdefault((*fixed, problem.weights.tobytes()), _compressor.LongRun())
    distances, gradients = _compressor.followed(course, run, books, rates, problem.objective().w_star)
    env |= {"G_sq": float(gradients.max()), "gradient_sq": gradients.ravel(), "start_sq": distances[0]}
    last = {name: np.ravel(value)[-1] for name, value in theorem_1.constants(planned, env).items()}
    return env | last | {"distance_sq": float(distances[rounds // 2 + 1 :].mean())}


space = Space({**_runs.clients(most=2, dim=8), "fraction": Real(0.01, 1)})
always = Space({**space.parameters, "T": Integer(40, 40), "q_later": Real(0.05, 1, shape=("N",))})


short: dict[str, Parameter] = {"T": Integer(1, 4), "change": Integer(1, 2)}


def _runs_with(ties: str, bookkeeping: str, *begin: Params, **narrowed: Parameter) -> Instances:
    return Instances(
        begin=begin,
        space=Space({**space.parameters, **narrowed}),
        realise=functools.partial(realise, ties=ties, bookkeeping=bookkeeping),
        rational=False,
    )


def _long_runs(values: tuple[int, ...], base: Params, *, bookkeeping: str, replicates: int) -> Sweeps:
    fixed: dict[str, Any] = {"ties": "exact", "bookkeeping": bookkeeping, "replicates": replicates}
    return Sweeps(
        instances=Instances(
            space=always,
            realise=functools.partial(realise, **fixed, last=True, walks={}),
            method=Method.MONTE_CARLO if replicates else Method.EXACT,
            rational=False,
        ),
        sweeps=(Sweep("T", values, base),),
    )


printed_books = _runs.base(
    E=1,
    fraction=0.25,
    condition=3.0,
    curvature=np.array([[0.0, 1.0, 0.3, 0.6], [1.0, 0.2, 0.7, 0.1]]),
    centre=np.zeros((2, 4)),
    start=np.array([1.0, -0.7, 0.4, 1.3]),
)
waiting = _runs.base(
    E=4,
    fraction=0.5,
    condition=1.0,
    curvature=np.zeros((3, 2)),
    centre=np.array([[1.0, 0.0], [-1.0, 4.0], [0.0, -4.0]]),
    start=np.zeros(2),
)
twice = _runs.base(
    E=1,
    fraction=0.5,
    condition=1.0,
    curvature=np.zeros((3, 2)),
    centre=np.array([[2.0, -1.0], [-1.0, 4.0], [-1.0, -3.0]]),
    start=np.zeros(2),
)


one_of_many: Params = {
    **{name: value for name, value in printed_books.items() if name != "q_later"},
    "N": 1,
    "d": 1000,
    "T": 900,
    "work": "all",
    "participation": "full",
    **{name: np.ones(1, dtype=int) for name in ("low", "high", "later")},
    **{name: np.ones(1) for name in ("q", "n")},
    "condition": 1.0,
    "curvature": np.zeros((1, 1000)),
    "centre": np.zeros((1, 1000)),
    "start": np.ones(1000),
    "fraction": 0.001,
}
"""One of a thousand entries is sent in a round, so that the run hardly moves: what holds it back is needed."""


def _other_books(books: str) -> Sweeps:
    return Sweeps(
        instances=Instances(
            space=always,
            realise=functools.partial(realise_books, books=books, courses={}),
            method=Method.EXACT,
            rational=False,
        ),
        sweeps=(Sweep("T", (1600, 3200, 6400, 12800, 25600), twice),),
    )


whole_rounds = (Assumption("clients complete all steps or none", Eq(incomplete, 0, evaluate=False)),)
residuals = Le(distance, (sqrt(theorem_1.BOUND) + A[tau]) ** 2)
G = sqrt(G_sq)
late = (
    mean_in(without_residuals, t)
    + 2 * FACTOR * mean_ps_at[t] * (A[t] / eta_at[t]) ** 2
    + (2 * E * G_sq + 2 * (E - 1) * G * (G + L * A[t])) * mean_in(squared_work, t)
)
grown = kept_back[t, k] + eta_at[t] * E * G
with_residuals = (
    *theorem_1.OFFSET,
    (eta_at[t], 16 * E / (mu * mean_ps_at[t] * ((t + 1) * E + gamma))),
    works_in,
    (kept_back[0, k], 0),
    (kept_back[t + 1, k], sqrt(q_at[t, k] * contraction * grown**2 + (1 - q_at[t, k]) * kept_back[t, k] ** 2)),
    (rest[0], 0),
    (rest[t + 1], sqrt(contraction) * (rest[t] + Sum(p[k] * sqrt(q_at[t, k]) * grown, (k, 1, N)))),
    (A[t], rest[t] + Sum(p[k] * kept_back[t, k], (k, 1, N))),
    (mean_B_late[t], late),
    (B_sum_late, Sum(mean_B_late[t] / mean_ps_at[t] ** 2, (t, 0, tau - 1))),
    (C, theorem_1.FIRST + theorem_1.SCALE * B_sum_late),
    *theorem_1.WITH_MU,
    *theorem_1.COUNTED,
)


def observed() -> Observation:
    """Return how the theorem is read on a run of EFL with compression."""
    whole = changing_bound(theorem_1.GAMMA, setting_of=about_efl)

    def quantities(facts: Facts) -> Mapping[Any, Any]:
        found, _ = laws(facts)
        most = max(float((one.chance @ (one.steps % facts.local_steps > 0)).max()) for one in found)
        left_out = _compressor_of(facts).contraction(facts.problem.dim)
        return {
            **whole.quantities(facts),
            "incomplete": facts.keep("incomplete", most, Origin.COMPUTED, "from the law of the step counts"),
            "contraction": facts.keep("contraction", left_out, Origin.COMPUTED, "of exactly as many entries as asked"),
        }

    def conditions(facts: Facts) -> tuple[Requirement, ...]:
        algorithm = facts.algorithm
        assert isinstance(algorithm, EFL)
        return (
            *whole.conditions(facts),
            Requirement("no elastic term", algorithm.elasticity == 0, f"elasticity = {algorithm.elasticity:g}"),
            Requirement("consistent bookkeeping", algorithm.bookkeeping == "consistent", algorithm.bookkeeping),
            Requirement("exactly as many entries as asked", algorithm.ties == "exact", f"ties = {algorithm.ties}"),
        )

    return dataclasses.replace(whole, quantities=quantities, conditions=conditions)


def _compressor_of(facts: Facts) -> SparseTernary:
    assert isinstance(facts.algorithm, EFL)
    share = facts.algorithm.compression
    return SparseTernary(fraction=1.0 if share is None else share)


claim = Claim(
    id="efl.theorem-1-compressed",
    kind=Kind.BOUND,
    title="convergence with compression",
    citation=Citation("efl", "Theorem 1, (7), with Algorithms 1 and 2"),
    forms=(
        Form(
            variant="published@box",
            statement=theorem_1.STATEMENT,
            where=theorem_1.LONG_VERSION,
            check=_runs_with("threshold", "printed", **short, participation=Choice(("full",))),
            note="both boxes literally",
        ),
        Form(
            variant="published@printed",
            statement=Le(distance, theorem_1.BOUND),
            where=theorem_1.LONG_VERSION,
            check=_long_runs((400, 800, 1600, 3200, 6400), printed_books, bookkeeping="printed", replicates=0),
            note="exactly k entries, bookkeeping as printed; after many rounds",
        ),
        *(
            Form(
                variant=f"published@{reading}",
                statement=Le(distance, theorem_1.BOUND),
                where=theorem_1.LONG_VERSION,
                check=_other_books(books),
                note=f"exactly k entries, bookkeeping of {where}; after many rounds",
            )
            for reading, books, where in (
                ("003-box", "003", "the short version's box"),
                ("text", "text", "the text of both versions"),
            )
        ),
        Form(
            variant="published@consistent",
            statement=theorem_1.STATEMENT,
            where=theorem_1.LONG_VERSION,
            check=_runs_with("exact", "consistent", **short),
            note="exactly k entries, everybody moves by the compressed update",
        ),
        Form(
            variant="published@incomplete",
            statement=Le(distance, theorem_1.BOUND),
            where=theorem_1.LONG_VERSION,
            check=_long_runs((50, 100, 200, 400, 800), waiting, bookkeeping="consistent", replicates=64),
            note="the same with incomplete clients; after many rounds",
        ),
        Form(
            variant="corrected",
            statement=residuals,
            where=with_residuals,
            assumptions=(*theorem_1.ASSUMPTIONS, *whole_rounds),
            check=_runs_with("exact", "consistent", one_of_many),
            note="consistent bookkeeping, complete or inactive clients; residuals in the second-order term",
        ),
    ),
    assumptions=theorem_1.ASSUMPTIONS,
    uses=("efl.theorem-1", "efl.lemma-1", "efl.algorithm-1", "efl.algorithm-2"),
    check=_runs_with("exact", "consistent"),
    observation=observed(),
)
