"""Decentralised SGD: what instances rest on, held against other computations, guards, and attacks on the statements."""

import dataclasses

import numpy as np
import pytest
import sympy as sp

import fltheory as fl
from fltheory.bounds.algebra import compiled
from fltheory.bounds.catalogue import index
from fltheory.bounds.claim import Form
from fltheory.bounds.koloskova import _periods, _symbols, _walk, lemma_15, proposition_5, theorem_3
from fltheory.bounds.koloskova._runs import contraction
from fltheory.bounds.koloskova.figures import theorem_3 as picture
from fltheory.bounds.observation import Facts
from fltheory.bounds.symbols import L, mu
from fltheory.errors import NotApplicable
from fltheory.figures import between
from fltheory.logistic import logistic_clients
from fltheory.quadratic.problem import Quadratic, client_gradients
from fltheory.validation.decide import FULL, check
from fltheory.validation.verdict import Decision


def experiment_of(algorithm=None, problem=None, *, local_steps=2, rounds=12, rate=5e-4, **more):
    problem = problem or fl.client_quadratics(dim=3, num_clients=5, mu=1.0, L=5.0, dissimilarity=2.0, noise_sq=0.3)
    return fl.Experiment(
        problem=problem,
        algorithm=algorithm or fl.GossipSGD(mixing="ring"),
        participation=fl.Participation(num_clients=problem.num_clients, local_steps=local_steps, **more),
        rounds=rounds,
        rate=rate,
    )


@pytest.mark.parametrize("steps", [1, 3])
def test_blocks_are_those_of_the_exact_engine(steps):
    """Two clients with noise: sums of gaps and squared distances along both axes, block by block."""
    high, low, pull, noise, size, kept = 2.0, 0.5, 1.5, 0.7, 0.05, 0.6
    problem = Quadratic(
        hessian=np.array([[high, low], [low, low]]),
        linear=np.array([[pull, 0.0], [-pull, 0.0]]),
        constant=np.zeros(2),
        noise_sq=np.full(2, noise**2),
        start=np.array([1.0, -2.0]),
        sample_counts=np.ones(2),
    )
    matrix = kept * np.eye(2) + (1 - kept) / 2
    made = experiment_of(fl.GossipSGD(mixing=[matrix.tolist()]), problem, local_steps=steps, rounds=4, rate=size)
    run = fl.simulate(made, engine="exact", record=fl.Record(mean_iterate=True))
    gaps = np.concatenate([run.gap[0, :1], run.curve("mean_iterate_gap")[0, 1:].ravel()])
    axes = [
        _periods._Axis((high, low), pull, 1.0),
        _periods._Axis((low, low), 0.0, -2.0),
    ]
    states, sums = [axis.first for axis in axes], []
    for block in range(1, 5):
        spread = (size * noise) ** 2 / 2
        states = [axis.block(size, spread, steps, kept, 1.0) @ state for axis, state in zip(axes, states, strict=True)]
        sums.append(sum(state[6] for state in states))
        far = sum(axis.far @ state for axis, state in zip(axes, states, strict=True))
        assert far == pytest.approx(run.curve("distance_sq")[0, block], rel=1e-10)
    expected = [gaps[: block * steps].sum() for block in range(1, 5)]
    np.testing.assert_allclose(sums, expected, rtol=1e-10)


def point_of(**changes):
    rng = np.random.default_rng(3)
    shape = (2, 2, 1)
    point = {
        "n": 2, "d": 1, "L": 2.0, "q": 0.3, "condition": 5.0, "tau": 2, "beyond": 1, "near": 1.0, "equal": "no",
        "x": np.array([[1.0], [-2.0]]), "centre": rng.uniform(-2, 2, shape), "knot": rng.uniform(-2, 2, shape),
        "left": rng.uniform(0, 1, shape), "right": rng.uniform(0, 1, shape),
        "omega": np.array([0.4, 0.0, 0.3]), "part": 1.0, "steps": np.array([1.0, 0.5, 0.8]),
    }  # fmt: skip
    return {**point, **changes}


def test_walks_are_those_of_gossip_sgd():
    """Without noise and kinks, and with steps that are all the same: consensus distances by the exact engine."""
    slopes = np.array([[[0.2], [0.2]], [[0.9], [0.9]]])
    centre = np.array([[[1.0], [1.0]], [[-1.5], [-1.5]]])
    found = _walk.walk(point_of(left=slopes, right=slopes, centre=centre, equal="yes", steps=np.ones(3)))
    hessian = 2.0 / 5.0 + (2.0 - 2.0 / 5.0) * slopes[:, 0]
    matrices = [((1 - w) * np.eye(2) + w / 2).tolist() for w in (0.4, 0.0, 0.3)]
    best = (hessian * centre[:, 0]).sum() / hessian.sum()
    problem = Quadratic(
        hessian=hessian,
        linear=-hessian * centre[:, 0],
        constant=np.zeros(2),
        noise_sq=np.zeros(2),
        start=np.array([1.0 + best]),
        sample_counts=np.ones(2),
    )
    made = experiment_of(fl.GossipSGD(mixing=matrices), problem, local_steps=1, rounds=3, rate=float(found["steps"][0]))
    run = fl.simulate(made, engine="exact", record=fl.Record(consensus=True))
    np.testing.assert_allclose(found["Xi"][1:], run.curve("consensus_sq")[0, 1:], rtol=1e-9)
    np.testing.assert_allclose(found["gap"], run.gap[0, :3], rtol=1e-9)
    assert found["sigma_bar_sq"] == pytest.approx(0.0, abs=1e-14)
    gradients = (hessian * (best - centre[:, 0])) ** 2
    assert found["zeta_bar_sq"] == pytest.approx(gradients.mean())
    assert found["p_mix"] == pytest.approx(1 - 0.6**2)


def test_noise_of_a_walk_is_that_of_all_outcomes():
    """One step from equal models: the variance of every client, less that of the mean, over independent draws."""
    point = point_of(equal="yes", tau=1, beyond=0, omega=np.array([0.25, 0.0, 0.0]))
    found = _walk.walk(point)
    made = _walk.draws(point)
    at = made.x_star + point["x"][0]
    drawn, mean = made.gradients([at, at])
    q = point["q"]
    variances = [(q * (1 - q) * (drawn[k, 1] - drawn[k, 0]) ** 2).sum() for k in range(2)]
    apart = ((mean - mean.mean(axis=0)) ** 2).sum() / 2
    size = found["steps"][0]
    assert found["Xi"][1] == pytest.approx(0.75**2 * size**2 * (apart + np.mean(variances) / 2))


@pytest.mark.parametrize(
    ("q", "x", "centre"),
    [
        (0.5, [[1.0], [-1.0]], [[[0.0], [0.0]], [[0.0], [0.0]]]),  # drift alone: slopes 0 and L with equal chances
        (1e-6, [[2.0], [2.0]], [[[0.0], [0.0]], [[0.0], [0.0]]]),  # gap alone: slopes L that are rarely drawn
    ],
)
def test_constants_of_the_sharp_form_of_proposition_5_are_attained(q, x, centre):
    slopes = np.array([[[0.0], [1.0]]] * 2)
    point = {
        "n": 2, "d": 1, "L": 3.0, "q": q, "condition": 1e12, "near": 1.0, "alike": "no", "x": np.array(x),
        "centre": np.array(centre), "knot": np.zeros((2, 2, 1)), "left": slopes, "right": slopes,
    }  # fmt: skip
    env = proposition_5.realise(point, convex=True)
    relation = index()["koloskova.proposition-5"].load().form("sharp").relations[0]
    env["chance"] = np.array(env["chance"], dtype=float)
    assert float(compiled(relation.lhs)(env)) == pytest.approx(float(compiled(relation.rhs)(env)), rel=1e-5)


def test_the_example_for_lemma_8_attains_the_sharp_form():
    """F is L/2 (x + c)^2 with chance q, otherwise linear: f = q L/2 x^2, whose minimiser is 0, with mu = q L."""
    q, c, smooth = 1e-6, 1.0, 2.0

    def needed(size, x):
        """Return the constant in front of the variance with which the statement is an equality."""
        drawn, otherwise = smooth * (x + c), -q * smooth * c / (1 - q)
        after = q * (x - size * drawn) ** 2 + (1 - q) * (x - size * otherwise) ** 2
        variance = q * (smooth * c) ** 2 + (1 - q) * otherwise**2
        curvature = q * smooth
        rest = (1 - size * curvature / 2) * x**2 - size * curvature / 2 * x**2
        return (after - rest) / (size**2 * variance)

    for share in (1 / 12, 1 / 2, 0.8):
        size = share / smooth
        best = share / (1 - share) * c
        assert needed(size, best) == pytest.approx(1 / (1 - share), rel=1e-4)
        assert needed(size, 3 * best) < needed(size, best) > needed(size, best / 3)
        assert needed(size, 1e-3) > 1


@pytest.mark.parametrize(
    "algorithm", [fl.GossipSGD(mixing="ring"), fl.GossipSGD(mixing=["ring", "identity"]), fl.FedAvg()], ids=str
)
def test_theorem_2_is_compared_and_has_a_step(algorithm):
    made = experiment_of(algorithm)
    for id_ in ("koloskova.theorem-2-gc", "koloskova.theorem-2-sc"):
        assert fl.theorem(id_).compare(made).decision is Decision.HOLDS
        assert fl.theorem(id_).compare(dataclasses.replace(made, rate=0.1)).decision is Decision.NOT_APPLICABLE
    theorem = fl.theorem("koloskova.theorem-2-gc")
    rate = theorem.rate_for(
        made.problem, made.participation, algorithm=algorithm, rounds=made.rounds, variant="corrected@tuned"
    )
    compared = theorem.compare(dataclasses.replace(made, rate=rate), variant="corrected@tuned")
    assert compared.decision is Decision.HOLDS
    assert theorem.compare(made, variant="corrected@tuned").decision is Decision.NOT_APPLICABLE


def test_blocks_of_mixing_matrices_have_their_consensus_rate():
    for mixing, length, rate in (
        ("mean", 2, 1.0),
        ("ring", 2, 1 - (1 / 3 + 2 / 3 * np.cos(2 * np.pi / 5)) ** 2),
        (["identity", "ring", "identity"], 6, 1 - (1 / 3 + 2 / 3 * np.cos(2 * np.pi / 5)) ** 2),
    ):
        made = experiment_of(fl.GossipSGD(mixing=mixing))
        facts = Facts(problem=made.problem, algorithm=made.algorithm, participation=made.participation)
        assert contraction(facts) == (length, pytest.approx(rate))


@pytest.mark.parametrize("id_", ["koloskova.theorem-2-gc", "koloskova.theorem-2-sc"])
def test_theorem_2_refuses_what_it_is_not_about(id_):
    theorem = fl.theorem(id_)
    for made, words in (
        (experiment_of(fl.GossipSGD(mixing="identity")), "never bring all clients together"),
        (experiment_of(fl.Scaffold()), "got SCAFFOLD"),
        (
            experiment_of(
                problem=fl.client_quadratics(dim=2, num_clients=3, noise_sq=0.1, hessian_noise=0.5), rate=1e-4
            ),
            "hessian_noise > 0",
        ),
        (
            experiment_of(problem=logistic_clients(num_clients=4, num_features=3, samples=40, seed=1)),
            "smoothness of every",
        ),
    ):
        with pytest.raises(fl.NotApplicable, match=words):
            theorem.compare(made)
    uneven = fl.client_quadratics(dim=2, num_clients=3, sample_counts=[1, 2, 3], noise_sq=0.1)
    compared = theorem.compare(experiment_of(fl.FedAvg(), uneven))
    assert compared.decision is Decision.NOT_APPLICABLE
    assert "weigh alike" in str(compared.unmet[0])


@pytest.mark.parametrize("bad", [{"pattern": [1.0, 1.0]}, {"pattern": []}, {"pattern": [1.0, 2.0], "zeta": -1.0}])
def test_spread_minimisers_refuses(bad):
    with pytest.raises(fl.InvalidParameter, match="spread_minimisers"):
        fl.spread_minimisers(**{"zeta": 1.0, **bad})


def test_spread_minimisers_have_the_heterogeneity_that_was_asked_for():
    problem = fl.spread_minimisers(pattern=[3.0, 0.0, -1.0], zeta=0.7)
    assert problem.objective().w_star == pytest.approx([1.0])
    assert (client_gradients(problem, np.ones(1)) ** 2).sum(axis=1).mean() == pytest.approx(0.7**2)


def attacked(id_, variant, *replaced):
    """Check a form in which expressions are replaced by others, as if it were published."""
    claim = index()[id_].load()
    form = claim.form(variant)
    changed = []
    for relation in form.relations:
        lhs, rhs = relation.lhs, relation.rhs
        for old, new in replaced:
            lhs, rhs = lhs.subs(old, new), rhs.subs(old, new)
        changed.append(relation.func(lhs, rhs, evaluate=False))
    where = tuple((target, sp.sympify(value).subs(list(replaced))) for target, value in form.where)
    assert tuple(changed) != form.relations or where != form.where, "nothing was replaced"
    other = Form(
        variant="published",
        statement=tuple(changed),
        where=where,
        over=form.over,
        assumptions=claim.assumptions_of(form),
        check=claim.check_of(form),
    )
    return check(dataclasses.replace(claim, forms=(other,)), effort=FULL)[0].decision


less = sp.Rational(9, 10)
sigma_sq = _symbols.sigma_bar_sq


@pytest.mark.parametrize(
    ("id_", "variant", "old", "new"),
    [
        ("koloskova.proposition-4", "published", _symbols.p, sp.Rational(2, 5) * _symbols.p),
        ("koloskova.proposition-5", "sharp", sigma_sq, less * sigma_sq),
        ("koloskova.proposition-5", "sharp", L, L / 2),
        ("koloskova.lemma-8", "sharp@equal-models", sigma_sq, less * sigma_sq),
        ("koloskova.lemma-8", "corrected", sigma_sq, less * sigma_sq),
        ("koloskova.lemma-15", "sharp", lemma_15.BEST, less * lemma_15.BEST),
        ("koloskova.theorem-3", "sharp", theorem_3.T, theorem_3.T * sp.Rational(3, 5)),
        ("koloskova.theorem-2-gc", "published", _periods.zeta_bar, sp.Integer(0)),
        ("koloskova.theorem-2-gc", "published", _symbols.tau, sp.sqrt(_symbols.tau)),
        ("koloskova.theorem-2-gc", "published", _symbols.n, _symbols.n**2),
        ("koloskova.theorem-2-sc", "published", _symbols.p, sp.sqrt(_symbols.p)),
        ("koloskova.theorem-2-sc", "published", mu, sp.sqrt(mu)),
        ("koloskova.theorem-2-sc", "published", _periods.sigma_bar, sp.Integer(0)),
    ],
)
def test_statements_fail_if_a_term_is_smaller(id_, variant, old, new):
    assert attacked(id_, variant, (old, new)) is Decision.VIOLATED


def test_blocks_with_drawn_matrices_are_those_of_the_exact_engine():
    """Two clients with noise, the mean after every round with a chance of 0.3: gaps, distances, block by block."""
    high, low, pull, noise, size, chance = 2.0, 0.5, 1.5, 0.7, 0.05, 0.3
    problem = Quadratic(
        hessian=np.array([[high, low], [low, low]]),
        linear=np.array([[pull, 0.0], [-pull, 0.0]]),
        constant=np.zeros(2),
        noise_sq=np.full(2, noise**2),
        start=np.array([1.0, -2.0]),
        sample_counts=np.ones(2),
    )
    coin = fl.GossipSGD(mixing=["identity", "mean"], probabilities=[1 - chance, chance])
    run = fl.simulate(experiment_of(coin, problem, local_steps=2, rounds=4, rate=size), engine="exact")
    axes = [_periods._Axis((high, low), pull, 1.0), _periods._Axis((low, low), 0.0, -2.0)]
    states = [axis.first for axis in axes]
    for block in range(1, 5):
        spread = (size * noise) ** 2 / 2
        states = [
            axis.block(size, spread, 2, 0.0, 1.0, chance) @ state for axis, state in zip(axes, states, strict=True)
        ]
        far = sum(axis.far @ state for axis, state in zip(axes, states, strict=True))
        assert far == pytest.approx(run.curve("distance_sq")[0, block], rel=1e-10)
        gap = sum(axis.gap @ state for axis, state in zip(axes, states, strict=True))
        assert gap == pytest.approx(run.gap[0, block], rel=1e-10)


def test_walks_with_drawn_matrices_are_those_of_gossip_sgd():
    """Without noise and kinks, one matrix that is drawn: consensus distances and gaps by the exact engine."""
    slopes = np.array([[[0.2], [0.2]], [[0.9], [0.9]]])
    centre = np.array([[[1.0], [1.0]], [[-1.5], [-1.5]]])
    weights = {"omega": np.full(3, 0.4), "chance": 0.3, "steps": np.ones(3)}
    found = _walk.walk(point_of(left=slopes, right=slopes, centre=centre, equal="yes", **weights))
    hessian = 2.0 / 5.0 + (2.0 - 2.0 / 5.0) * slopes[:, 0]
    best = (hessian * centre[:, 0]).sum() / hessian.sum()
    problem = Quadratic(
        hessian=hessian,
        linear=-hessian * centre[:, 0],
        constant=np.zeros(2),
        noise_sq=np.zeros(2),
        start=np.array([1.0 + best]),
        sample_counts=np.ones(2),
    )
    drawn = fl.GossipSGD(mixing=["identity", (0.6 * np.eye(2) + 0.2).tolist()], probabilities=[0.7, 0.3])
    made = experiment_of(drawn, problem, local_steps=1, rounds=3, rate=float(found["steps"][0]))
    run = fl.simulate(made, engine="exact", record=fl.Record(consensus=True))
    np.testing.assert_allclose(found["Xi"][1:], run.curve("consensus_sq")[0, 1:], rtol=1e-9)
    np.testing.assert_allclose(found["gap"], run.gap[0, :3], rtol=1e-9)
    assert found["p_mix"] == pytest.approx(1 - (0.7 + 0.3 * 0.6**2) ** 2)


def test_the_consensus_rate_of_drawn_matrices_is_that_of_expected_squares():
    """Of a pair out of n clients: E||W x - mean||^2 = (1 - 1/(n - 1)) ||x - mean||^2 for all x; of a coin: its bias."""
    rng = np.random.default_rng(4)
    for algorithm, expected in (
        (fl.GossipSGD.random_pairs(5), 1 / 4),
        (fl.GossipSGD.random_matchings(4), 2 / 3),
        (fl.GossipSGD(mixing=["identity", "mean"], probabilities=[0.8, 0.2]), 0.2),
    ):
        number = 4 if algorithm == fl.GossipSGD.random_matchings(4) else 5
        made = experiment_of(algorithm, fl.client_quadratics(dim=2, num_clients=number), local_steps=3)
        facts = Facts.of(made, fl.simulate(made, engine="exact"))
        assert contraction(facts) == (3, pytest.approx(expected))
        apart = rng.standard_normal(number)
        apart -= apart.mean()
        matrices = [algorithm.matrix(place, np.full(number, 1 / number)) for place in range(len(algorithm.mixing))]
        after = sum(q * ((w @ apart) ** 2).sum() for q, w in zip(algorithm.probabilities, matrices, strict=True))
        assert after == pytest.approx((1 - expected) * (apart**2).sum())


def test_the_consensus_rate_of_a_drawn_ring_is_its_squared_eigenvalue_in_expectation():
    """A ring of five has the eigenvalue 1/3 + 2/3 cos 72 degrees next to 1; with chance 0.3 nobody communicates."""
    drawn = fl.GossipSGD(mixing=["identity", "ring"], probabilities=[0.3, 0.7])
    made = experiment_of(drawn)
    facts = Facts(problem=made.problem, algorithm=made.algorithm, participation=made.participation)
    expected = 0.7 * (1 - (1 / 3 + 2 / 3 * np.cos(2 * np.pi / 5)) ** 2)
    assert contraction(facts) == (2, pytest.approx(expected))


def test_draws_that_never_connect_all_clients_are_refused():
    halves = [[[0.5, 0.5, 0, 0], [0.5, 0.5, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]]
    apart = fl.GossipSGD(mixing=["identity", *halves], probabilities=[0.5, 0.5])
    made = experiment_of(apart, fl.client_quadratics(dim=2, num_clients=4))
    with pytest.raises(NotApplicable, match="never bring all clients together"):
        contraction(Facts.of(made, fl.simulate(made, engine="exact")))


@pytest.mark.parametrize("id_", ["koloskova.theorem-2-sc", "koloskova.theorem-2-gc"])
def test_a_faster_rate_than_that_of_drawn_matrices_is_refuted(id_):
    """With one factor 1/p less everywhere, the claim on matrices that are drawn fails."""
    claim = index()[id_].load()
    form = claim.form("published@drawn")
    relation = form.relations[0]
    wrong = Form(
        variant="published@wrong",
        statement=sp.Le(relation.lhs, relation.rhs.xreplace({_symbols.p: sp.sqrt(_symbols.p)})),
        where=form.where,
        check=form.check,
    )
    changed = dataclasses.replace(claim, forms=(wrong,))
    assert check(changed, effort=FULL)[0].decision is Decision.VIOLATED


def test_the_figure_has_runs_between_the_bounds_and_a_lower_curve_that_is_the_sharp_form():
    data = picture.compute(quick=True, seed=0)
    for panel, rate in zip(data["panels"], picture.RATES, strict=True):
        below, above = between.distances(panel)
        assert 1 <= below < 3
        assert 1 <= above < 3
        relation = index()["koloskova.theorem-3"].load().form("sharp@common-start").relations[0]
        for count, eps in zip(panel["x"], panel["lower"]["Theorem 3, sharp"], strict=True):
            env = {"zeta_bar": picture.ZETA, "eps": eps, "lam": np.sqrt(1 - rate), "p_mix": rate}
            assert float(compiled(relation.lhs)(env)) == pytest.approx(count, rel=0.02)
