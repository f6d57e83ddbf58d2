r"""Exact moments of aggregation weights and step counts under schemes A, B and C.

The convergence theorem for flexible participation is stated in

.. math:: \mathbb E[p_i^\tau],\quad \mathbb E[p_i^\tau s_i],\quad \mathbb E[(p_i^\tau)^2 s_i],\quad
   \mathbb E\Bigl[\sum_i p_i^\tau s_i\Bigr],\quad
   \mathbb E\Bigl[\bigl(\textstyle\sum_i p_i^\tau - 2\bigr)_+ \sum_i p_i^\tau s_i\Bigr],

and in :math:`z_\tau`, which is 1 unless :math:`\mathbb E[p_i^\tau s_i]/p_i` is the same for all clients. Here they
are expectations over the joint law of selection, step counts and timeline of one round: a client that is not
selected counts as one that completes no step. Nothing is sampled:

* B and C need each client's own law only, i.e. its probability of being selected times its step law;
* A needs the number of complete clients :math:`K_\tau`. Where the clients are independent (everyone is asked, or
  coin flips decide), :math:`K_\tau` is Poisson-binomial, and with the count :math:`K_{-i}` of the others and
  :math:`q_i = \mathbb P(s_i = E)`

  .. math:: \mathbb E[p_i^\tau] = N p_i q_i\,\mathbb E\Bigl[\frac1{1+K_{-i}}\Bigr], \qquad
     \mathbb E[(p_i^\tau)^2 s_i] = E\,(N p_i)^2 q_i\,\mathbb E\Bigl[\frac1{(1+K_{-i})^2}\Bigr];

* what is left is enumerated, and refused with :class:`~fltheory.errors.NotApplicable` if that is too much.

The published moments of scheme A are conditional on :math:`K_\tau > 0`. Those here are not; since all of them vanish
for :math:`K_\tau = 0`, dividing by ``complete_probability`` gives the conditional ones. Coin flips that are redrawn
while nobody is selected are handled the same way: the unconditional moment over the probability that somebody is.

Source: Ruan et al., *Towards flexible device participation in federated learning*, AISTATS 2021, Theorem 3.1 and
appendix A.4. Its (75), (76), (79) and (80) are for scheme C with :math:`s_i \ge 1`; its (74) and (78) put the square
outside the expectation of :math:`1/s` and are not used.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.errors import NotApplicable
from fltheory.participation._participation import Participation
from fltheory.participation.schemes import Scheme, scheme_weights
from fltheory.participation.selection import Independent

TOLERANCE = 1e-9
"""Ratios that differ by less than this, relative to the largest, count as equal in :attr:`Moments.z`."""

# Spacing at which partial sums count as equal: far above rounding, far below anything a moment could show.
_LATTICE = 2.0**-44


@dataclass(frozen=True, kw_only=True, slots=True)
class Moments:
    """Moments of one round; arrays have shape ``(clients,)``.

    Parameters
    ----------
    objective
        The objective weights ``p_i`` in force.
    p, p_s, p_sq_s
        Expectations of the aggregation weight, of weight times steps, of squared weight times steps.
    complete_probability
        Probability that at least one client completes all steps (scheme A, otherwise ``None``).
    inverse_complete
        Expectation of ``1 / K`` given ``K > 0`` (scheme A with ``complete_probability > 0``, otherwise ``None``).
    """

    objective: Floats
    p: Floats
    p_s: Floats
    p_sq_s: Floats
    complete_probability: float | None
    inverse_complete: float | None

    @property
    def sum_p_s(self) -> float:
        """Expectation of the sum over clients of weight times steps."""
        return float(self.p_s.sum())

    @property
    def ratio_spread(self) -> float:
        """Largest minus smallest ``E[p_i s_i] / p_i`` among the clients of the objective."""
        ratios = self._ratios()
        return float(ratios.max() - ratios.min())

    @property
    def z(self) -> int:
        """1 if the ratios ``E[p_i s_i] / p_i`` differ by more than ``TOLERANCE`` times the largest, else 0."""
        return int(self.ratio_spread > TOLERANCE * float(self._ratios().max()))

    def _ratios(self) -> Floats:
        counted = self.objective > 0
        return np.asarray(self.p_s[counted] / self.objective[counted], dtype=np.float64)


def moments(scheme: Scheme, participation: Participation, index: int, p: Floats, *, limit: int = 4096) -> Moments:
    """Return the exact moments of round ``index``.

    Parameters
    ----------
    scheme
        A, B or C.
    participation
        Selection, step counts and timeline.
    index
        Number of the round.
    p
        Objective weights in force, shape ``(clients,)``.
    limit
        Most cases to enumerate where there is no faster way.

    Examples
    --------
    Two clients that each complete both steps or none, with probability 1/2:

    >>> from fltheory.participation import BernoulliSteps
    >>> half = Participation(num_clients=2, local_steps=2, steps=BernoulliSteps(probability=0.5))
    >>> found = moments(Scheme.A, half, 0, np.array([0.25, 0.75]))
    >>> found.p.tolist(), found.complete_probability, found.z
    ([0.1875, 0.5625], 0.75, 0)
    """
    weights = participation.checked_weights(index, p)
    members = participation.members(index)
    if scheme is Scheme.A:
        flips = participation.selection.independent(members)
        if flips is not None:
            return _complete_only(participation, index, weights, flips)
    else:
        inclusion = participation.selection.inclusion(weights, members)
        if inclusion is not None:
            return _marginal(scheme, participation, index, weights, inclusion)
    return _enumerated(scheme, participation, index, weights, limit)


def excess_moment(
    scheme: Scheme, participation: Participation, index: int, p: Floats, *, limit: int = 100_000
) -> float:
    r"""Return :math:`\mathbb E[(\sum_i p_i^\tau - 2)_+ \sum_i p_i^\tau s_i]` of round ``index``.

    It is zero for scheme B, whose weights sum to one. For independent clients the joint law of the two sums is
    built client by client, with equal partial sums merged: scheme A with equal weights has at most
    ``num_clients + 1`` of them. Other selections are enumerated.

    Raises
    ------
    NotApplicable
        If more than ``limit`` partial sums, or cases, would be needed.
    """
    weights = participation.checked_weights(index, p)
    if scheme is Scheme.B:
        return 0.0
    flips = participation.selection.independent(participation.members(index))
    if flips is None:
        probability, steps, _ = participation.outcomes(index, weights, limit=limit)
        coefficients = scheme_weights(scheme, weights, steps, participation.local_steps)
        return _excess(probability, coefficients.sum(axis=1), (coefficients * steps).sum(axis=1))
    probability, sums = _joint_sums(scheme, participation, index, weights, flips, limit)
    if scheme is Scheme.A:
        scale = np.count_nonzero(weights) / np.maximum(sums[:, 0], 1.0)
        return _excess(probability, scale * sums[:, 1], participation.local_steps * scale * sums[:, 1])
    return _excess(probability, sums[:, 0], sums[:, 1])


def poisson_binomial(q: Floats) -> Floats:
    """Return the law of the number of successes, shape ``(len(q) + 1,)``.

    >>> poisson_binomial(np.array([0.5, 0.25])).tolist()
    [0.375, 0.5, 0.125]
    """
    return np.asarray(_success_counts(q[:, None])[0], dtype=np.float64)


def leave_one_out(q: Floats) -> Floats:
    """Return the law of the successes of the others: row ``i`` leaves out ``i``; shape ``(len(q), len(q) + 1)``.

    All rows are built up together; dividing one factor out of the full law would lose digits.
    """
    return _success_counts(np.where(np.eye(len(q), dtype=np.bool_), 0.0, q[:, None]))


def _success_counts(q: Floats) -> Floats:
    """Convolve trials ``(trials, rows)`` into laws ``(rows, trials + 1)``."""
    law = np.zeros((q.shape[1], q.shape[0] + 1))
    law[:, 0] = 1.0
    for trial in q[:, :, None]:
        law[:, 1:] = law[:, 1:] * (1.0 - trial) + law[:, :-1] * trial
        law[:, :1] *= 1.0 - trial
    return law


def _complete_only(participation: Participation, index: int, p: Floats, flips: Independent) -> Moments:
    counted = p > 0
    q = np.where(counted, flips.probability * participation.step_pmf(index)[:, -1], 0.0)
    of_others = leave_one_out(q)
    inverse = 1.0 / np.arange(1, len(p) + 2)
    scaled = np.count_nonzero(counted) * p
    once = scaled * q * (of_others @ inverse) / flips.normaliser
    twice = scaled**2 * q * (of_others @ inverse**2) / flips.normaliser
    law = poisson_binomial(q)[1:]
    # Not law.sum(), which may round to above 1, nor 1 - prod(1 - q), which loses digits if all q are small.
    any_complete = 1.0 if np.any(q == 1) else float(-np.expm1(np.log1p(-q).sum()))
    return Moments(
        objective=p,
        p=once,
        p_s=participation.local_steps * once,
        p_sq_s=participation.local_steps * twice,
        complete_probability=min(any_complete / flips.normaliser, 1.0),
        inverse_complete=float(law @ inverse[:-1]) / any_complete if any_complete > 0 else None,
    )


def _marginal(scheme: Scheme, participation: Participation, index: int, p: Floats, inclusion: Floats) -> Moments:
    counts = np.arange(participation.local_steps + 1)
    pmf = inclusion[:, None] * participation.step_pmf(index)
    pmf[:, 0] += 1.0 - inclusion
    # One row of weights per possible count, all clients alike: the schemes treat clients separately here.
    by_count = scheme_weights(scheme, p, np.tile(counts[:, None], len(p)), participation.local_steps).T
    return Moments(
        objective=p,
        p=(pmf * by_count).sum(axis=1),
        p_s=(pmf * by_count * counts).sum(axis=1),
        p_sq_s=(pmf * by_count**2 * counts).sum(axis=1),
        complete_probability=None,
        inverse_complete=None,
    )


def _enumerated(scheme: Scheme, participation: Participation, index: int, p: Floats, limit: int) -> Moments:
    probability, steps, _ = participation.outcomes(index, p, limit=limit)
    coefficients = scheme_weights(scheme, p, steps, participation.local_steps)
    complete = np.count_nonzero((steps == participation.local_steps) & (p > 0), axis=1)
    any_complete = float(probability[complete > 0].sum())
    inverse = float((probability / np.maximum(complete, 1))[complete > 0].sum())
    of_a = scheme is Scheme.A
    return Moments(
        objective=p,
        p=probability @ coefficients,
        p_s=probability @ (coefficients * steps),
        p_sq_s=probability @ (coefficients**2 * steps),
        complete_probability=any_complete if of_a else None,
        inverse_complete=inverse / any_complete if of_a and any_complete > 0 else None,
    )


def _joint_sums(
    scheme: Scheme, participation: Participation, index: int, p: Floats, flips: Independent, limit: int
) -> tuple[Floats, Floats]:
    """Return the law of two sums over clients: ``(states,)`` and ``(states, 2)``.

    The sums are the number of complete clients and their objective weight for scheme A, and the two sums of the
    moment itself for scheme C. With coin flips, the states of a selected nobody are in the law as well; they add
    nothing to the moment, and the normaliser takes them out.
    """
    local_steps = participation.local_steps
    counts = np.arange(local_steps + 1)
    pmf = flips.probability[:, None] * participation.step_pmf(index)
    pmf[:, 0] += 1.0 - flips.probability
    complete = counts == local_steps
    shares = np.where(counts > 0, local_steps / np.maximum(counts, 1), 0.0)
    probability, sums = np.ones(1), np.zeros((1, 2))
    for i in np.flatnonzero(p):
        terms = (complete, p[i] * complete) if scheme is Scheme.A else (p[i] * shares, p[i] * shares * counts)
        possible = pmf[i] > 0
        added = np.stack(terms, axis=1)[possible]
        spread = (probability[:, None] * pmf[i, possible]).ravel()
        probability, sums = _merge(spread, (sums[:, None] + added).reshape(-1, 2))
        if len(probability) > limit:
            raise NotApplicable(
                f"excess_moment of scheme {scheme.value} needs more than limit={limit} partial sums with "
                f"{np.count_nonzero(p)} clients; use weights with a common denominator, fewer clients or steps, or "
                "raise the limit"
            )
    return probability / flips.normaliser, sums


def _merge(probability: Floats, sums: Floats) -> tuple[Floats, Floats]:
    """Join states whose sums agree on the lattice."""
    lattice = np.rint(sums / _LATTICE).astype(np.int64)
    order = np.lexsort((lattice[:, 1], lattice[:, 0]))
    lattice = lattice[order]
    starts = np.flatnonzero(np.append(True, np.any(lattice[1:] != lattice[:-1], axis=1)))
    return np.add.reduceat(probability[order], starts), sums[order][starts]


def _excess(probability: Floats, sum_p: Floats, sum_p_s: Floats) -> float:
    return float(probability @ (np.maximum(sum_p - 2.0, 0.0) * sum_p_s))
