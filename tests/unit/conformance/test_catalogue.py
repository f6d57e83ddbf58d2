"""The catalogue: every variant is told apart from the reference and from the others, and recognised in foreign code."""

import functools

import numpy as np
import pytest

from fltheory.configuration import registry
from fltheory.conformance import Conclusion, conform
from fltheory.conformance.conform import build, full_parameters
from fltheory.conformance.diagnosis import compatible
from fltheory.conformance.instances import Feature, instances
from fltheory.conformance.mistakes import (
    feddyn,
    fedgate,
    fednova,
    fedopt,
    gossip_sgd,
    listed,
    mime,
    own_variants,
    scaffold,
    variants,
)
from fltheory.conformance.mistakes.fedavgm import fedavgm_round
from fltheory.conformance.mistakes.pfedme import pfedme_round
from fltheory.conformance.reference import trace
from fltheory.conformance.variants import Correctness, mistake
from tests.handwritten import TELLING, WRITTEN, fedavg, local_sgd, shares

# Of one client only, and with random numbers of its own.
NOT_EXAMINED = {"continual", "diana", "fedpaq", "scaffnew"}
EXAMINED = sorted(set(registry.algorithms()) - NOT_EXAMINED)
SEPARATION = 5e-5
"""Smallest difference between two variants on some instance: far above rounding, below it only in single precision."""


def telling(name, **more):
    return build(name, TELLING.get(name, {}) | more)


def curves(algorithm, *chosen):
    skip = frozenset() if hasattr(algorithm, "server_rate") else frozenset({Feature.SERVER_RATE})
    found = instances(full_parameters(algorithm), skip=skip)
    return np.concatenate([trace(algorithm, each.federation, tuple(chosen)).models.ravel() for each in found])


@pytest.mark.parametrize("name", EXAMINED)
def test_variants_differ_from_the_reference_and_from_each_other(name):
    algorithm = telling(name)
    every = {variant.name: curves(algorithm, variant) for variant in variants(algorithm)}
    every["reference"] = curves(algorithm)
    names = list(every)
    for place, one in enumerate(names):
        for other in names[:place]:
            assert np.abs(every[one] - every[other]).max() > SEPARATION, (one, other)


def test_variants_that_need_other_parameters_differ_too():
    for name, parameters, wanted in [
        ("scaffold", {"initial": "gradient"}, "server-variate-starts-at-zero"),
        ("scaffold", {"option": "I"}, "option-II"),
        ("scaffold", {"initial": "gradient"}, "variates-start-at-zero"),
        ("pfedme", {"reset_inner": False}, "inner-iterate-restarted"),
    ]:
        algorithm = telling(name, **parameters)
        variant = next(v for v in variants(algorithm) if v.name == wanted)
        assert np.abs(curves(algorithm, variant) - curves(algorithm)).max() > SEPARATION


WITHOUT_CHANGES = {
    "scaffold": scaffold.scaffold_round(),
    "feddyn": feddyn.feddyn_round(),
    "fednova": fednova.fednova_round(),
    "mime": mime.momentum_round(corrected=True),
    "mimelite": mime.momentum_round(corrected=False),
    "fedgate": fedgate.tracking_round(),
    "vrl-sgd": fedgate.tracking_round(),
    "fedopt": fedopt.fedopt_round(),
    "gossip-sgd": gossip_sgd.gossip_round(),
    "fedavgm": fedavgm_round(),
    "pfedme": pfedme_round(),
}


@pytest.mark.parametrize("name", sorted(WITHOUT_CHANGES))
def test_a_round_with_no_rule_replaced_is_the_algorithm(name):
    algorithm = telling(name)
    same = mistake("none", "nothing", round=WITHOUT_CHANGES[name])
    np.testing.assert_allclose(curves(algorithm, same), curves(algorithm), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", sorted(WRITTEN))
def test_algorithms_written_by_hand_conform(name):
    assert conform(WRITTEN[name], name, **TELLING.get(name, {})).conclusion is Conclusion.CONFORMS


@pytest.mark.parametrize("rule", ["adagrad", "yogi"])
def test_other_rules_of_fedopt_written_by_hand_conform(rule):
    assert conform(WRITTEN["fedopt"], "fedopt", rule=rule).conclusion is Conclusion.CONFORMS


NOT_WRITTEN = {
    "exact-local-solution",  # needs a solver
    "memory-in-other-units",
    "pull-scaled-by-weight",
    "variate-scaled-by-weight",
    "warm-up",
}
MISTAKES = [
    (name, variant)
    for name in sorted(WRITTEN)
    for variant in own_variants(name)
    if variant.applies(telling(name))
    and variant.name not in NOT_WRITTEN
    and not (name == "fedprox" and variant in own_variants("fedavg"))
]
SHARED = ["uniform", "fixed-weights", "unbiased-weights", "complete-clients-only", "weights-by-work"]
SHARED += ["assigned-steps", "everybody-works", "first-rate", "server-rate-ignored", "server-rate-on-the-model"]


@pytest.mark.parametrize(("name", "variant"), MISTAKES, ids=[f"{name}-{v.name}" for name, v in MISTAKES])
def test_mistakes_written_by_hand_are_recognised(name, variant):
    run = functools.partial(WRITTEN[name], bug=variant.name)
    found = conform(run, name, **TELLING.get(name, {}))
    assert found.matches == ((variant,),)
    reading = variant.kind is Correctness.READING
    assert found.conclusion is (Conclusion.VARIANT if reading else Conclusion.KNOWN_MISTAKE)
    assert found.ok == reading


@pytest.mark.parametrize("bug", SHARED)
def test_shared_variants_written_by_hand_are_recognised(bug):
    found = conform(functools.partial(fedavg, bug=bug), "fedavg")
    assert [[v.name for v in match] for match in found.matches] == [[bug]]


def test_a_mistake_in_a_reading_is_recognised_as_both():
    """Uniform weights, and the server variate over the participants."""

    def run(f):
        w, c, models = f.start, np.zeros(f.dim), []
        c_i = np.zeros((f.num_clients, f.dim))
        for t, participants in enumerate(f.participants):
            ends = {}
            for i in participants:
                y = w.copy()
                for _ in range(f.steps[t, i]):
                    y = y - f.rates[t] * (f.gradient(i, y) + c - c_i[i])
                ends[i] = y
            new = {i: c_i[i] - c + (w - y) / (f.steps[t, i] * f.rates[t]) for i, y in ends.items()}
            c = c + np.mean([new[i] - c_i[i] for i in participants], axis=0)
            for i in participants:
                c_i[i] = new[i]
            w = w + f.server_rate * np.mean([y - w for y in ends.values()], axis=0)
            models.append(w)
        return models

    found = conform(run, "scaffold")
    assert found.conclusion is Conclusion.KNOWN_MISTAKE
    assert {"server-variate-over-participants", "uniform"} in [{v.name for v in match} for match in found.matches]
    assert all(len(match) == 2 for match in found.matches)


def test_the_catalogue_has_unique_names_and_enough_mistakes():
    entries = listed()
    names = [(entry["algorithm"], entry["name"]) for entry in entries]
    assert len(names) == len(set(names))
    assert sum(entry["kind"] == "mistake" for entry in entries) >= 80
    texts = [entry["text"] for entry in entries]
    assert not any(
        text.endswith(".") or text[0].isupper() for text in texts if not text.startswith(("Adam", "Nesterov"))
    )


def test_two_mistakes_in_different_rules_are_recognised_together():
    """FedDyn without an effect of its penalty, and with the old model subtracted once."""

    def run(f):
        alpha, w, h, models = f.parameters["alpha"], f.start, np.zeros(f.dim), []
        for t, participants in enumerate(f.participants):
            ends = {i: local_sgd(f, t, i, w) for i in participants}
            h = h - alpha / f.num_clients * (sum(ends.values()) - w)
            w = sum(weight * ends[i] for i, weight in shares(f, participants).items()) - h / alpha
            models.append(w)
        return models

    found = conform(run, "feddyn", alpha=0.5)
    names = [{v.name for v in match} for match in found.matches]
    assert names == [{"penalty-without-gradient", "old-model-subtracted-once"}]
    assert "; and with " in found.diagnosis


def test_variants_of_the_same_thing_are_not_put_together():
    known = {v.name: v for v in variants(telling("scaffold"))}
    pairs = [
        ("uniform", "fixed-weights", False),
        ("uniform", "option-I", True),
        ("path-only", "old-variate-dropped", False),
        ("path-only", "server-variate-replaced", True),
        ("path-only", "corrected-once", False),
    ]
    for one, other, together in pairs:
        assert compatible((known[one], known[other])) is together


@pytest.mark.parametrize("name", EXAMINED)
def test_states_that_are_compared_are_vectors_after_every_round(name):
    """Of the server or of the clients; curvature, which has two axes per client, is not among them."""
    algorithm = build(name, {})
    skip = frozenset() if hasattr(algorithm, "server_rate") else frozenset({Feature.SERVER_RATE})
    federation = instances(full_parameters(algorithm), skip=skip)[-1].federation
    (rounds, clients), dim = federation.steps.shape, len(federation.initial)
    for field, values in trace(algorithm, federation).states.items():
        assert values.shape in ((rounds, dim), (rounds, clients, dim)), field
