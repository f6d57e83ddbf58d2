"""Answers, conditions, first differences, and complaints about code that fails."""

import functools
import json
import time

import numpy as np
import pytest

from fltheory.conformance import Conclusion, UserCodeError, assert_conforms, conform
from fltheory.errors import InvalidParameter, NotApplicable
from tests.handwritten import fedavg, fedavgm, feddyn, fedprox, scaffold


def buggy(function, bug, **options):
    return functools.partial(function, bug=bug, **options)


@pytest.mark.parametrize(
    ("run", "algorithm", "condition"),
    [
        (
            buggy(scaffold, "server-variate-over-participants"),
            "scaffold",
            "agrees under full participation; differs as soon as a client is absent",
        ),
        (
            buggy(scaffold, "variates-divided-by-assigned-steps"),
            "scaffold",
            "agrees when all clients take equally many steps; differs as soon as step counts differ",
        ),
        (
            buggy(fedavg, "uniform"),
            "fedavg",
            "agrees when all clients have equally many samples; differs as soon as sample counts differ",
        ),
        (
            buggy(fedavg, "server-rate-ignored"),
            "fedavg",
            "agrees when the server rate is 1; differs as soon as the server rate is not 1",
        ),
        (
            buggy(fedavg, "first-rate"),
            "fedavg",
            "agrees when the local rate is constant; differs as soon as the local rate changes from round to round",
        ),
        (
            buggy(scaffold, "path-only"),
            "scaffold",
            "agrees in the first round; differs as soon as a second round follows",
        ),
        (
            buggy(fedprox, "no-proximal-term"),
            "fedprox",
            "agrees with one local step per round; differs as soon as clients take several local steps",
        ),
        (
            buggy(fedavg, "one-model-for-all"),
            "fedavg",
            "agrees with a single client; differs as soon as there are several clients",
        ),
        (buggy(fedavg, "ascent"), "fedavg", "differs already with one client, one local step and one round"),
    ],
)
def test_the_condition_without_which_code_agrees_is_named(run, algorithm, condition):
    assert conform(run, algorithm).condition == condition


def test_conditions_that_only_matter_together_are_said_to():
    def run(f):
        partial = len(set(map(len, f.participants))) > 1
        return fedavg(f, "uniform" if partial and len(set(f.sample_counts)) > 1 else "")

    found = conform(run, "fedavg")
    assert found.condition == "agrees with each of the features alone; differs where several of them come together"
    assert [each.name for each in found.instances if not each.agrees] == ["all together"]


def test_the_smallest_instance_that_differs_is_shown_with_both_numbers():
    found = conform(lambda f: [1.5 * w for w in fedavg(f)], "fedavg")
    assert found.conclusion is Conclusion.DIFFERS
    difference = found.difference
    assert difference.instance == "one client, one step, one round"
    np.testing.assert_allclose(difference.got, 1.5 * np.array(difference.expected))
    assert difference.relative == pytest.approx(0.5)
    assert "got [1.39" in str(found)
    assert "is neither FedAvg nor a variant" in str(found)


def test_a_returned_state_is_named_before_the_model_it_spoils():
    run = buggy(scaffold, "server-variate-over-participants", states=True)
    found = conform(run, "scaffold")
    assert (found.difference.what, found.difference.round) == ("c", 2)
    local = conform(buggy(scaffold, "correction-reversed", states=True), "scaffold")
    assert (local.difference.what, local.difference.round) == ("local models", 2)
    c_i = conform(buggy(scaffold, "path-only", states=True), "scaffold")
    assert (c_i.difference.what, c_i.difference.round) == ("c_i", 2)


def test_states_may_be_kept_in_other_units_if_the_models_agree():
    def run(f):
        found = scaffold(f, states=True)
        return found | {"c": [2 * c for c in found["c"]]}

    found = conform(run, "scaffold")
    assert found.conclusion is Conclusion.CONFORMS
    assert "the server models agree although c does not" in str(found)
    assert not conform(functools.partial(scaffold, states=True), "scaffold").hints


def test_the_first_model_may_be_returned_too():
    assert conform(lambda f: [f.start, *fedavg(f)], "fedavg").conclusion is Conclusion.CONFORMS


def test_features_can_be_skipped():
    run = buggy(fedavg, "server-rate-ignored")
    assert conform(run, "fedavg").conclusion is Conclusion.KNOWN_MISTAKE
    found = conform(run, "fedavg", skip=["server-rate"])
    assert found.conclusion is Conclusion.CONFORMS
    assert found.skipped == ("server-rate",)
    everything = ["unequal-weights", "absent-clients", "unequal-steps", "server-rate", "rate-schedule"]
    plain = conform(fedavg, "fedavg", skip=everything)
    assert {name for each in plain.instances for name in each.features} == {
        "local-steps",
        "several-clients",
        "several-rounds",
    }
    with pytest.raises(InvalidParameter, match=r"conform\.skip must be one of .* did you mean 'unequal-steps'"):
        conform(fedavg, "fedavg", skip=["unequal-step"])


def test_variants_that_skipping_makes_alike_are_all_listed():
    found = conform(buggy(scaffold, "variates-divided-by-one"), "scaffold", skip=["rate-schedule"])
    assert [v.name for (v,) in found.matches] == ["variates-divided-by-one"]
    both = conform(buggy(fedavg, "uniform"), "fedavg", skip=["absent-clients", "unequal-steps"])
    assert "uniform" in [v.name for (v,) in both.matches]


def test_parameters_reach_the_code_and_the_reference():
    seen = []

    def run(f):
        seen.append(f.parameters["alpha"])
        return feddyn(f)

    assert conform(run, "feddyn", alpha=0.3).conclusion is Conclusion.CONFORMS
    assert set(seen) == {0.3}
    fixed = conform(fedavgm, "fedavgm", server_rate=0.5, momentum=0.4)
    assert fixed.conclusion is Conclusion.CONFORMS
    assert fixed.parameters == {"momentum": 0.4, "server_rate": 0.5}
    assert "server rate 0.7" not in [each.name for each in fixed.instances]


def test_single_precision_passes_with_a_tolerance_for_it():
    def run(f):
        return np.array(fedavg(f), dtype=np.float32)

    assert conform(run, "fedavg").conclusion is Conclusion.DIFFERS
    assert conform(run, "fedavg", tolerance=1e-4).conclusion is Conclusion.CONFORMS


def test_almost_a_variant_is_not_that_variant():
    def run(f):
        return [w + 1e-6 for w in fedavg(f, "uniform")]

    assert conform(run, "fedavg").conclusion is Conclusion.DIFFERS
    assert conform(run, "fedavg", tolerance=1e-4).conclusion is Conclusion.VARIANT


def test_one_array_appended_again_and_again_is_pointed_out():
    def run(f):
        w, models = f.start, []
        for model in fedavg(f):
            w[:] = model
            models.append(w)
        return models

    assert "append a copy" in str(conform(run, "fedavg"))


def test_code_that_remembers_earlier_calls_is_pointed_out():
    memory = []

    def run(f):
        memory.append(1)
        return [w + 0.01 * len(memory) for w in fedavg(f)]

    assert "two runs on the same instance differ" in str(conform(run, "fedavg"))


def test_the_nearest_variant_is_named():
    def run(f):
        models = fedavg(f, "uniform")
        return [w + 1e-3 for w in models] if f.server_rate != 1.0 else models

    hints = conform(run, "fedavg").hints
    assert "closest: FedAvg with every client counting the same" in hints[-1]
    assert "agrees on 8 of 10 instances" in hints[-1]


def test_memories_are_suspected_when_the_first_round_agrees():
    def run(f):
        models = scaffold(f)
        return [models[0], *(w + 0.01 for w in models[1:])]

    assert "look at what is carried from round to round (c, c_i)" in str(conform(run, "scaffold"))


def test_errors_name_the_line_of_the_code():
    def run(f):
        w = f.start
        return [w @ np.zeros(7)]

    with pytest.raises(
        UserCodeError, match=r"run failed on the instance 'one client.*ValueError.*test_conform\.py, line \d+"
    ):
        conform(run, "fedavg")


def test_errors_inside_a_library_name_the_line_that_called_it():
    def run(f):
        return [np.linalg.solve(np.zeros((2, 2)), f.start)]

    with pytest.raises(UserCodeError, match=r"LinAlgError.*test_conform\.py, line \d+"):
        conform(functools.partial(run), "fedavg")


def test_objects_and_partial_applications_are_named_by_their_code():
    class Mine:
        def __call__(self, f):
            return 3

    with pytest.raises(UserCodeError, match=r"Mine must return.*test_conform\.py, line \d+"):
        conform(Mine(), "fedavg")
    with pytest.raises(UserCodeError, match=r"Mine must return"):
        conform(functools.partial(Mine()), "fedavg")


def test_a_reference_that_diverges_is_not_a_reason_to_blame_the_code():
    with pytest.raises(NotApplicable, match=r"FedDyn itself diverges .* choose others"):
        conform(feddyn, "feddyn", alpha=1e300)


def test_an_error_raised_by_the_federation_names_the_line_that_asked():
    def run(f):
        return [f.gradient(5, f.start)]

    with pytest.raises(UserCodeError, match=r"client must be an integer in \[0, 0\].*test_conform\.py, line \d+"):
        conform(run, "fedavg")


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda f: np.zeros((f.rounds, f.dim + 1)), r"must return models of shape \(1, 2\).*got shape \(1, 3\)"),
        (lambda f: None, r"must return models as an array of numbers.*got NoneType"),
        (lambda f: [["a", "b"]], r"must return models as an array of numbers"),
        (lambda f: [[np.nan, 0.0]], r"returned models with nan in row 0"),
        (lambda f: [[0.0, 0.0], [0.0, -np.inf]], r"returned models with -inf in row 1"),
        (lambda f: [[5.0, 5.0], [1.0, 1.0]], r"the first must be federation\.start"),
        (lambda f: {"w": [[0.0, 0.0]]}, r"a mapping with the key 'models', got the keys 'w'"),
    ],
)
def test_what_is_no_sequence_of_models_is_refused(returned, message):
    with pytest.raises(UserCodeError, match=message + r".*test_conform\.py, line \d+"):
        conform(returned, "fedavg")


def test_states_must_be_known_and_of_the_right_shape():
    with pytest.raises(
        InvalidParameter,
        match=r"returned 'h', which is not part of the state of SCAFFOLD; it has models, local, c, c_i",
    ):
        conform(lambda f: {"models": scaffold(f), "h": np.zeros((f.rounds, f.dim))}, "scaffold")
    with pytest.raises(InvalidParameter, match=r"must return 'c' of shape"):
        conform(lambda f: {"models": scaffold(f), "c": np.zeros((f.rounds, 9))}, "scaffold")


def test_bad_arguments_are_refused():
    with pytest.raises(InvalidParameter, match="did you mean 'scaffold'"):
        conform(scaffold, "scafold")
    with pytest.raises(InvalidParameter, match=r"SCAFFOLD has no parameter 'options'.*did you mean 'option'"):
        conform(scaffold, "scaffold", options="I")
    with pytest.raises(InvalidParameter, match="tolerance"):
        conform(scaffold, "scaffold", tolerance=0.0)
    with pytest.raises((InvalidParameter, NotApplicable), match="num_clients=1"):
        conform(fedavg, "continual")
    with pytest.raises(NotApplicable, match=r"draws random numbers of its own \(communicate\)"):
        conform(fedavg, "scaffnew")


def test_assert_conforms_is_for_test_suites():
    assert_conforms(feddyn, "feddyn", alpha=0.5)
    assert_conforms(buggy(fedavg, "uniform"), "fedavg")
    with pytest.raises(AssertionError, match=r"the old model subtracted once.*as in FedLab issue #319"):
        assert_conforms(buggy(feddyn, "old-model-subtracted-once"), "feddyn", alpha=0.5)


def test_answers_can_be_written_as_json_and_html():
    found = conform(buggy(scaffold, "server-variate-over-participants"), "scaffold")
    document = json.loads(json.dumps(found.as_json(), allow_nan=False))
    assert document["conclusion"] == "KNOWN_MISTAKE"
    assert document["ok"] is False
    assert document["matches"][0][0]["source"] == "NIID-Bench issue #12"
    assert [each["agrees"] for each in document["instances"]].count(False) == 2
    page = found._repr_html_()
    assert "KNOWN_MISTAKE" in page
    assert "NIID-Bench issue #12" in page
    assert page.count("<tr>") == len(found.instances) + 1


def test_the_code_may_write_into_what_it_is_given():
    def run(f):
        w = f.start
        w += 1.0
        f.sample_counts[:] = 0
        f.weights[:] = 0.0
        return fedavg(f)

    assert conform(run, "fedavg").conclusion is Conclusion.CONFORMS


def test_an_answer_takes_less_than_five_seconds_even_if_nothing_matches():
    """Seconds of the processor: other processes do not count."""
    begin = time.process_time()
    conform(lambda f: [w + 0.1 for w in scaffold(f)], "scaffold")
    assert time.process_time() - begin < 5.0
