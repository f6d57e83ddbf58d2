"""Laws of participation on random federations: unbiasedness, exact moments, prefix stability."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fltheory.participation import (
    Arrival,
    Bernoulli,
    BySize,
    Departure,
    Everyone,
    Participation,
    Scheme,
    StepCounts,
    Timeline,
    WithoutReplacement,
    WithReplacement,
    scheme_weights,
)
from fltheory.participation.moments import excess_moment, moments

few = settings(deadline=None, max_examples=60)


@st.composite
def sample_counts(draw, *, num_clients):
    return np.array(draw(st.lists(st.integers(1, 20), min_size=num_clients, max_size=num_clients)), dtype=float)


@st.composite
def selections(draw, *, num_members):
    sizes = st.integers(1, num_members)
    return draw(
        st.one_of(
            st.just(Everyone()),
            st.builds(WithReplacement, size=st.integers(1, 3)),
            st.builds(WithoutReplacement, size=sizes, renormalise=st.booleans()),
            st.builds(Bernoulli, probability=st.sampled_from([1e-3, 0.25, 0.7, 1.0])),
            st.builds(BySize, size=sizes),
        )
    )


@st.composite
def step_laws(draw, *, num_clients, local_steps):
    entries = st.lists(st.integers(0, 4), min_size=local_steps + 1, max_size=local_steps + 1).filter(any)
    table = np.array([draw(entries) for _ in range(num_clients)], dtype=float)
    return StepCounts(pmf=table / table.sum(axis=1, keepdims=True))


@st.composite
def timelines(draw, *, num_clients):
    """Client 0 stays; of the others some arrive, some depart, within rounds 1 to 4."""
    arrivals, departures = [], []
    for client in range(1, num_clients):
        start = draw(st.integers(0, 3))
        if start:
            arrivals.append(Arrival(client=client, round=start, fast_reboot=draw(st.booleans())))
        if draw(st.booleans()):
            departures.append(Departure(client=client, round=start + 1, exclude=draw(st.booleans())))
    return Timeline(arrivals=arrivals, departures=departures)


@st.composite
def federations(draw, *, with_timeline=True):
    """Return a participation with its sample counts."""
    num_clients, local_steps = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    timeline = draw(timelines(num_clients=num_clients)) if with_timeline else Timeline()
    participation = Participation(
        num_clients=num_clients,
        local_steps=local_steps,
        selection=draw(selections(num_members=timeline.fewest_members(num_clients))),
        steps=draw(step_laws(num_clients=num_clients, local_steps=local_steps)),
        timeline=timeline,
    )
    return participation, draw(sample_counts(num_clients=num_clients))


@few
@given(federations(), st.integers(0, 5))
def test_the_law_is_a_law(federation, index):
    participation, counts = federation
    p = participation.objective_weights(index, counts / counts.sum(), counts)
    law = participation.outcomes(index, p)
    assert p.sum() == pytest.approx(1)
    assert law.probability.sum() == pytest.approx(1, rel=1e-12)
    assert law.probability.min() > 0
    assert np.all(law.weights[law.steps == 0] == 0)
    assert not law.steps[:, ~participation.timeline.present(index, len(p))].any()
    rows = np.hstack([law.steps, law.weights])
    assert len(np.unique(rows, axis=0)) == len(rows)
    marginal = np.stack([(law.probability[:, None] * (law.steps == k)).sum(axis=0) for k in range(1, 4)], axis=1)
    inclusion = participation.selection.inclusion(p, participation.members(index))
    if inclusion is not None:
        expected = np.zeros_like(marginal)
        expected[:, : participation.local_steps] = (inclusion[:, None] * participation.step_pmf(index))[:, 1:]
        assert marginal == pytest.approx(expected, abs=1e-12)


@few
@given(st.data(), st.integers(1, 5))
def test_unbiased_designs_are_unbiased(data, num_clients):
    """With all steps done, E[omega_i] = p_i exactly for the three unbiased designs."""
    counts = data.draw(sample_counts(num_clients=num_clients))
    p = counts / counts.sum()
    size = data.draw(st.integers(1, num_clients))
    for selection in (Everyone(), WithReplacement(size=size), WithoutReplacement(size=size, renormalise=False)):
        law = Participation(num_clients=num_clients, local_steps=1, selection=selection).outcomes(0, p)
        assert law.probability @ law.weights == pytest.approx(p, rel=1e-12)


@few
@given(st.data(), st.integers(1, 5))
def test_averaging_designs_sum_to_one(data, num_clients):
    """With all steps done, the weights of the designs that average sum to one in every outcome."""
    counts = data.draw(sample_counts(num_clients=num_clients))
    p = counts / counts.sum()
    size = data.draw(st.integers(1, num_clients))
    for selection in (
        Everyone(),
        WithReplacement(size=size),
        WithoutReplacement(size=size, renormalise=True),
        Bernoulli(probability=0.4),
        BySize(size=size),
    ):
        law = Participation(num_clients=num_clients, local_steps=1, selection=selection).outcomes(0, p)
        assert law.weights.sum(axis=1) == pytest.approx(1, rel=1e-12)


@few
@given(st.data(), st.integers(1, 5))
def test_equal_clients_are_treated_alike(data, num_clients):
    """With equal p even the biased designs have E[omega_i] = p_i = 1/N."""
    size = data.draw(st.integers(1, num_clients))
    p = np.full(num_clients, 1 / num_clients)
    for selection in (
        WithoutReplacement(size=size, renormalise=True),
        Bernoulli(probability=0.3),
        BySize(size=size),
    ):
        law = Participation(num_clients=num_clients, local_steps=1, selection=selection).outcomes(0, p)
        assert law.probability @ law.weights == pytest.approx(p, rel=1e-12)


@few
@given(federations(), st.sampled_from(list(Scheme)), st.integers(0, 5))
def test_moments_equal_brute_enumeration(federation, scheme, index):
    """Convolutions and closed forms against the definition, summed over the whole joint law."""
    participation, counts = federation
    p = participation.objective_weights(index, counts / counts.sum(), counts)
    law = participation.outcomes(index, p)
    weights = scheme_weights(scheme, p, law.steps, participation.local_steps)
    found = moments(scheme, participation, index, p)
    assert found.p == pytest.approx(law.probability @ weights, rel=1e-10, abs=1e-13)
    assert found.p_s == pytest.approx(law.probability @ (weights * law.steps), rel=1e-10, abs=1e-13)
    assert found.p_sq_s == pytest.approx(law.probability @ (weights**2 * law.steps), rel=1e-10, abs=1e-13)
    sum_p, sum_p_s = weights.sum(axis=1), (weights * law.steps).sum(axis=1)
    assert found.sum_p_s == pytest.approx(law.probability @ sum_p_s, rel=1e-10, abs=1e-13)
    brute = law.probability @ (np.maximum(sum_p - 2, 0) * sum_p_s)
    assert excess_moment(scheme, participation, index, p) == pytest.approx(brute, rel=1e-10, abs=1e-11)
    if scheme is Scheme.A:
        complete = ((law.steps == participation.local_steps) & (p > 0)).sum(axis=1)
        some = complete > 0
        assert found.complete_probability == pytest.approx(law.probability[some].sum(), rel=1e-10)
        if some.any():
            inverse = (law.probability[some] / complete[some]).sum() / law.probability[some].sum()
            assert found.inverse_complete == pytest.approx(inverse, rel=1e-10)


@few
@given(federations(with_timeline=False))
def test_bias_indicator(federation):
    """Scheme B is unbiased iff all expected steps agree, scheme C iff all chances of being active do."""
    participation, counts = federation
    p = counts / counts.sum()
    law = participation.outcomes(0, p)
    by_scheme = {Scheme.B: law.probability @ law.steps, Scheme.C: law.probability @ (law.steps > 0)}
    for scheme, values in by_scheme.items():
        spread = values.max() - values.min()
        assert moments(scheme, participation, 0, p).z == int(spread > 1e-9 * values.max())


@few
@given(federations(), st.integers(0, 5), st.integers(0, 2**32), st.integers(0, 6), st.integers(1, 6))
def test_replicates_do_not_depend_on_their_block(federation, index, seed, start, length):
    participation, counts = federation
    p = participation.objective_weights(index, counts / counts.sum(), counts)
    whole = participation.sample(index, p, seed=seed, replicates=range(12))
    block = participation.sample(index, p, seed=seed, replicates=range(start, start + length))
    assert np.array_equal(block.steps, whole.steps[start : start + length])
    assert np.array_equal(block.weights, whole.weights[start : start + length])


@few
@given(federations(), st.integers(0, 5), st.integers(0, 2**32))
def test_rounds_are_outcomes(federation, index, seed):
    """Every sampled round is one of the enumerated ones, with the same objective and boost."""
    participation, counts = federation
    p = counts / counts.sum()
    work = participation.round(index, 0.1, p, counts, seed=seed, replicates=range(8))
    possible = [outcome for _, outcome in participation.round_outcomes(index, 0.1, p, counts)]
    assert work.steps.shape[0] == (1 if participation.is_deterministic(index) else 8)
    for steps, weights in zip(work.steps, work.weights, strict=True):
        assert any(
            np.array_equal(steps, one.steps[0]) and np.allclose(weights, one.weights[0], rtol=1e-12, atol=0)
            for one in possible
        )
    assert all(np.array_equal(one.p, work.p) and np.array_equal(one.boost, work.boost) for one in possible)
