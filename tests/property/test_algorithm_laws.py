"""Laws that hold for every algorithm in the catalogue, and the marks each algorithm gives itself."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings

from fltheory.algorithms.signsgd import SignSGD
from fltheory.configuration import registry
from fltheory.errors import NotAffine
from fltheory.participation import Participation
from fltheory.simulation.engines import simulate
from fltheory.simulation.experiment import Experiment
from tests import laws
from tests.federations import begin, close, federation, federations, models, run, with_draws

few = settings(deadline=None, max_examples=6)

VARIANTS = {
    "apfl": [{"adaptive": True}, {"mixing": 1.0}],
    "cfl-r": [
        {"curvature": "diagonal"},
        {"curvature": "fisher", "gradient": "stochastic"},
        {"curvature": "empirical-fisher"},
        {"form": "sum"},
        {"weighting": "geometric"},
        {"weighting": "current", "curvature": "empirical-fisher"},
    ],
    "continual": [{"variant": "ewc"}, {"variant": "ewc", "fisher": "empirical-fisher"}],
    "diana": [{"levels": 1, "memory_rate": 0.5, "momentum": 0.3}],
    "efl": [
        {"fisher": "empirical-fisher"},
        {"compression": 0.5},
        {"compression": 0.5, "bookkeeping": "printed", "ties": "threshold"},
    ],
    "fedamp": [{"heuristic": True}, {"exact": True}],
    "feddyn": [{"exact": True}, {"alpha": 2.0}],
    "fedelasticnet-1": [{"l1": 0.0, "epsilon": 0.0}, {"exact": True, "weights": "all"}, {"weights": "participants"}],
    "fedelasticnet-2": [{"l1": 0.0, "epsilon": 0.0, "l2": 0.3}],
    "fedelasticnet-3": [
        {"l1": 0.0, "epsilon": 0.0},
        {"exact": True},
        {"memory_rule": "subgradient", "exact": True, "l1": 0.1},
    ],
    "fedavgm": [{"momentum": 0.0}],
    "fedopt": [{"rule": "adagrad", "second_start": 0.0}, {"rule": "yogi"}, {"bias_correction": True}],
    "fednova": [{"prox": 0.5, "server_momentum": 0.5}, {"effective_steps": 2.0}],
    "fedpaq": [{"levels": 1}],
    "fedprox": [{"prox": 0.0}],
    "gossip-sgd": [
        {"mixing": "ring"},
        {"mixing": ["ring", "identity"]},
        {"mixing": ["identity", "ring"], "probabilities": [0.3, 0.7]},
    ],
    "mime": [{"momentum": 0.0}],
    "mimelite": [{"momentum": 0.0}],
    "pfedme": [{"reset_inner": False}],
    "ruan": [{"scheme": "A"}, {"scheme": "B"}],
    "scaffold": [{"option": "I"}, {"initial": "gradient"}],
    "scaffnew": [{"probability": 0.7}, {"probability": 1.0}],
    "signsgd": [{"momentum": 0.5}, {"weight_decay": 0.1}],
    "vrl-sgd": [{"warm_up": True}],
}


def _label(name, parameters):
    return name + "".join(f",{key}={value}" for key, value in parameters.items())


CASES = {
    _label(name, parameters): kind(**parameters)
    for name, kind in registry.algorithms().items()
    for parameters in [{}, *VARIANTS.get(name, [])]
}

SINGLE = {label for label in CASES if label.startswith("continual")}

# The marks of the algorithm sheet; whatever is not listed is affine.
NOT_AFFINE = {
    "apfl,adaptive=True",
    "cfl-r,curvature=empirical-fisher",
    "continual,variant=ewc,fisher=empirical-fisher",
    "diana",
    "diana,levels=1,memory_rate=0.5,momentum=0.3",
    "efl,compression=0.5",
    "efl,compression=0.5,bookkeeping=printed,ties=threshold",
    "efl,fisher=empirical-fisher",
    "fedamp",
    "fedamp,exact=True",
    "fedamp,heuristic=True",
    "fedelasticnet-1",
    "fedelasticnet-1,exact=True,weights=all",
    "fedelasticnet-1,weights=participants",
    "fedelasticnet-2",
    "fedelasticnet-3",
    "fedelasticnet-3,exact=True",
    "fedelasticnet-3,memory_rule=subgradient,exact=True,l1=0.1",
    "fedopt",
    "fedopt,bias_correction=True",
    "fedopt,rule=adagrad,second_start=0.0",
    "fedopt,rule=yogi",
    "fedpaq",
    "fedpaq,levels=1",
    "signsgd",
    "signsgd,momentum=0.5",
    "signsgd,weight_decay=0.1",
}

# Angles between models and decay to zero single out the origin.
NOT_SHIFTED = {"fedamp,heuristic=True", "signsgd,weight_decay=0.1"}

# One vote, one attention weight, one term of the elastic sum each: these count heads, not shares of the objective.
COUNTING_HEADS = {label for label in CASES if label.startswith(("efl", "fedamp", "gossip-sgd,", "signsgd"))} | {
    "ruan,scheme=A",  # divides by the number of complete clients
}

# A server with a residual broadcasts some of it whether or not anybody works.
EMPTY_ROUNDS_MATTER = {label for label in CASES if label.startswith("efl,compression")}

# Marks that err on the safe side: they follow the class or a parameter that these variants do not use.
CAUTIOUS = {"cfl-r,weighting=current,curvature=empirical-fisher", "vrl-sgd"}

each = pytest.mark.parametrize("label", CASES)
several = pytest.mark.parametrize("label", sorted(set(CASES) - SINGLE))


def federations_for(label):
    return federations(min_clients=1, max_clients=1) if label in SINGLE else federations()


def instances_for(label):
    """Return fixed federations on which a law must fail at least once."""
    return [federation(seed, clients=1 if label in SINGLE else 3, local_steps=2) for seed in range(4)]


def breaks(law, label):
    for instance in instances_for(label):
        try:
            law(CASES[label], instance)
        except AssertionError:
            return True
    return False


def check(law, label):
    """Run a law of two arguments on random federations."""

    @few
    @given(federations_for(label))
    def holds(on):
        law(CASES[label], on)

    holds()


def test_variants_name_algorithms_of_the_catalogue():
    assert set(VARIANTS) <= set(registry.algorithms())
    assert set(CASES) >= NOT_AFFINE | NOT_SHIFTED | COUNTING_HEADS | CAUTIOUS


@each
def test_a_seed_fixes_every_bit_and_another_seed_changes_the_run(label):
    @few
    @given(federations_for(label))
    def holds(on):
        algorithm = CASES[label]
        one = models(algorithm, on, seed=3, replicates=range(2))
        np.testing.assert_array_equal(models(algorithm, on, seed=3, replicates=range(2)), one)
        # signSGD only keeps signs, which small noise need not change; the others move continuously.
        if algorithm.name != "signsgd":
            assert not np.array_equal(models(algorithm, on, seed=4, replicates=range(2)), one)

    holds()


@each
def test_a_replicate_does_not_depend_on_the_others(label):
    @few
    @given(federations_for(label))
    def holds(on):
        together = models(CASES[label], on, replicates=range(4))
        close(models(CASES[label], on, replicates=range(2)), together[:, :2])
        close(models(CASES[label], on, replicates=range(3, 4)), together[:, 3:])

    holds()


@each
def test_a_replicate_may_have_participants_of_its_own(label):
    laws.replicates_may_differ_in_who_works(CASES[label], instances_for(label)[0])


@each
def test_messages_are_vectors_of_clients(label):
    for on in instances_for(label):
        laws.messages_are_vectors_of_clients(CASES[label], on)


@each
def test_states_are_not_overwritten_by_later_rounds(label):
    on = instances_for(label)[0]
    oracle = on.oracle()
    state = begin(CASES[label], on, oracle)
    for index in range(on.rounds):
        before = {name: np.array(value) for name, value in state._asdict().items()}
        after = CASES[label].round(state, oracle, with_draws(CASES[label], on.work(index), on.problem.dim)).state
        for name, value in before.items():
            np.testing.assert_array_equal(getattr(state, name), value, err_msg=name)
        state = after


@several
@pytest.mark.parametrize(
    "law",
    [laws.absent_clients_keep_their_memory, laws.absent_clients_are_not_consulted, laws.clients_have_no_order],
    ids=lambda law: law.__name__,
)
def test_clients(label, law):
    check(law, label)


@each
def test_empty_rounds(label):
    if label in EMPTY_ROUNDS_MATTER:
        assert breaks(laws.empty_rounds_change_nothing, label)
    else:
        check(laws.empty_rounds_change_nothing, label)


@several
def test_splitting_a_client(label):
    if label in COUNTING_HEADS:
        assert breaks(laws.clients_can_be_split, label)
    else:
        check(laws.clients_can_be_split, label)


@each
def test_shifts(label):
    if label in NOT_SHIFTED:
        assert breaks(laws.shifts_carry_over, label)
    else:
        check(laws.shifts_carry_over, label)


@each
def test_the_mark_of_rotation_equivariance(label):
    if CASES[label].rotation_equivariant or label in CAUTIOUS:
        check(laws.rotations_carry_over, label)
    else:
        assert breaks(laws.rotations_carry_over, label)


@each
def test_the_mark_of_autonomy(label):
    if CASES[label].autonomous or label in CAUTIOUS:
        check(laws.round_number_is_not_read, label)
    else:
        assert breaks(laws.round_number_is_not_read, label)


@each
def test_the_mark_of_affinity_on_trajectories(label):
    assert bool(CASES[label].not_affine) == (label in NOT_AFFINE)
    if label in NOT_AFFINE:
        assert breaks(laws.models_are_affine_in_the_start, label)
    else:
        check(laws.models_are_affine_in_the_start, label)


@each
def test_the_exact_engine_accepts_what_is_affine_and_names_what_is_not(label):
    algorithm = CASES[label]
    if algorithm.not_affine:
        with pytest.raises(NotAffine) as refused:
            moments(algorithm, label)
        assert algorithm.title in str(refused.value)
        assert algorithm.not_affine in str(refused.value)
    else:
        assert np.all(np.isfinite(moments(algorithm, label).gap))


@pytest.mark.parametrize("label", sorted(NOT_AFFINE))
def test_the_exact_engine_finds_out_by_itself_what_is_not_affine(label):
    """An algorithm that does not confess is caught by the probes."""
    kind = type(CASES[label])
    silent = type("Silent", (kind,), {"not_affine": property(lambda self: "")})
    parameters = {field.name: getattr(CASES[label], field.name) for field in fields(kind)}
    with pytest.raises(NotAffine):
        moments(silent(**parameters), label)


@pytest.mark.parametrize("rounds", [1, 2, 4])
def test_the_check_that_a_round_is_affine_begins_with_the_first_map(rounds):
    silent = type("Silent", (SignSGD,), {"not_affine": property(lambda self: "")})
    with pytest.raises(NotAffine):
        moments(silent(), "signsgd", rounds=rounds)


def moments(algorithm, label, *, rounds=3):
    """Return a few exact rounds on a noisy federation in which everybody works."""
    on = instances_for(label)[0]
    experiment = Experiment(
        problem=on.problem,
        algorithm=algorithm,
        participation=Participation(num_clients=on.problem.num_clients, local_steps=2),
        rounds=rounds,
        rate=on.rate,
    )
    return simulate(experiment, engine="exact")


@each
def test_deterministic_state_of_one_replicate_is_that_of_all(label):
    """Without noise all replicates coincide, so no array mixes them up."""
    on = instances_for(label)[1].still()
    if any(getattr(chance, "num_outcomes", 2) > 1 for chance in CASES[label].chances(on.local_steps).values()):
        pytest.skip("replicates differ in the algorithm's own draws")
    for name, value in run(CASES[label], on, replicates=range(3))[-1]._asdict().items():
        close(value, np.broadcast_to(np.asarray(value)[:1], np.shape(value)))
        assert np.all(np.isfinite(value)), name
