"""Mean and covariance under gradient noise: what passes, what is noticed, and how often a right code is accused."""

import functools
import json

import numpy as np
import pytest
from scipy import stats

from fltheory.conformance import Conclusion, conform
from fltheory.conformance.conform import build
from fltheory.conformance.instances import federation
from fltheory.conformance.noise import ModelMoments, compare_moments, exact_moments
from fltheory.errors import NotAffine
from tests.handwritten import fedavg, minibatch_sgd, scaffold, signsgd

noisy = functools.partial(conform, noisy=True, replicates=400)


def test_right_code_passes_under_noise():
    for run, algorithm in [(fedavg, "fedavg"), (scaffold, "scaffold"), (minibatch_sgd, "minibatch-sgd")]:
        found = noisy(run, algorithm)
        assert found.conclusion is Conclusion.CONFORMS
        assert found.noise.agrees
        assert found.ok
        assert "false-alarm rate at most 0.001" in str(found)


def test_a_reading_is_compared_with_its_own_moments():
    found = noisy(functools.partial(scaffold, bug="uniform"), "scaffold")
    assert found.conclusion is Conclusion.VARIANT
    assert found.ok


def reusing(f):
    """FedAvg with one minibatch in all local steps of a round."""
    w, models = f.start, []
    for t, participants in enumerate(f.participants):
        total = sum(f.sample_counts[i] for i in participants)
        moved = np.zeros(f.dim)
        for i in participants:
            y, batch = w.copy(), f.minibatch(i, f.rng)
            for _ in range(f.steps[t, i]):
                y = y - f.rates[t] * batch(y)
            moved = moved + f.sample_counts[i] / total * (y - w)
        w = w + f.server_rate * moved
        models.append(w)
    return models


class Louder:
    """A federation whose gradients have twice the noise."""

    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def gradient(self, client, w, rng):
        full = self.inner.gradient(client, w)
        return full + 2 * (self.inner.gradient(client, w, rng) - full)


def silent(f):
    """FedAvg with full gradients."""

    class Silent(Louder):
        def gradient(self, client, w, rng):
            return self.inner.gradient(client, w)

    return fedavg(Silent(f))


def shared_noise(f):
    """FedAvg whose clients all start the same generator in every round."""

    class Shared(Louder):
        def gradient(self, client, w, rng):
            return self.inner.gradient(client, w, np.random.default_rng(self.inner.seed % 2**32))

    return fedavg(Shared(f))


@pytest.mark.parametrize(
    ("run", "explanation"),
    [
        (reusing, "consistent with the same minibatch in all local steps of a round"),
        (lambda f: fedavg(Louder(f)), "consistent with noise whose standard deviation is multiplied by "),
        (silent, "the models do not vary at all"),
        (shared_noise, ""),
    ],
)
def test_wrong_noise_is_noticed_although_full_gradients_agree(run, explanation):
    found = noisy(run, "fedavg")
    assert found.conclusion is Conclusion.CONFORMS
    assert not found.noise.agrees
    assert not found.ok
    assert found.noise.what == "covariance"
    assert explanation in found.noise.explanation
    assert found.as_json()["noise"]["agrees"] is False


def test_a_biased_gradient_is_noticed_in_the_mean():
    class Biased(Louder):
        def gradient(self, client, w, rng):
            bias = 0.2 if self.inner.noise > 0 else 0.0
            return self.inner.gradient(client, w, rng) + bias

    found = noisy(lambda f: fedavg(Biased(f)), "fedavg")
    assert found.noise.what == "mean"
    assert "standard errors from the exact one" in str(found)


def test_algorithms_that_are_not_affine_are_refused_with_the_reason():
    with pytest.raises(NotAffine, match="signs of the gradients"):
        noisy(signsgd, "signsgd")


def test_exact_moments_are_those_of_one_noisy_step():
    """One client, one step: the model is w - eta (g + noise), with covariance (eta sigma)^2 I."""
    on = federation([[1]], local_steps=1, parameters={}, noise=0.4)
    moments = exact_moments(build("fedavg", {}), on)
    np.testing.assert_allclose(moments.mean[0], on.start - on.rates[0] * on.gradient(0, on.start))
    np.testing.assert_allclose(moments.covariance[0], (on.rates[0] * 0.4) ** 2 * np.eye(2), atol=1e-15)


def gaussians(rng, moments, replicates):
    """Draw models of independent rounds with the given moments."""
    roots = np.linalg.cholesky(moments.covariance)
    draws = rng.standard_normal((replicates, *moments.mean.shape))
    return moments.mean + np.einsum("tij,rtj->rti", roots, draws)


MOMENTS = ModelMoments(
    mean=np.array([[1.0, -2.0], [0.5, 0.1], [0.0, 3.0]]),
    covariance=np.array([[[2.0, 0.5], [0.5, 1.0]], [[0.3, -0.1], [-0.1, 0.4]], [[1.0, 0.9], [0.9, 1.0]]]),
)


def test_the_false_alarm_rate_is_below_the_level_and_not_far_below():
    """2000 batches at level 0.2: more alarms than the 1e-6 quantile of Binomial(2000, 0.2) would refute the bound.

    Bonferroni over 12 tests loses little here, so fewer than 0.1 of alarms would mean that the tests are blunt.
    """
    rng = np.random.default_rng(11)
    alarms = sum(not compare_moments(gaussians(rng, MOMENTS, 20), MOMENTS, level=0.2).agrees for _ in range(2000))
    assert alarms <= stats.binom.ppf(1 - 1e-6, 2000, 0.2)
    assert alarms >= 200


@pytest.mark.parametrize("factor", [1.4, 1 / 1.4])
def test_too_much_and_too_little_variance_are_noticed(factor):
    rng = np.random.default_rng(3)
    wrong = MOMENTS._replace(covariance=factor * MOMENTS.covariance)
    found = compare_moments(gaussians(rng, wrong, 1000), MOMENTS, level=1e-3)
    assert found.what == "covariance"
    assert found.ratio == pytest.approx(factor, rel=0.2)


def test_correlations_are_noticed_although_variances_along_all_axes_are_right():
    rng = np.random.default_rng(5)
    values, vectors = np.linalg.eigh(MOMENTS.covariance)
    roots = vectors * np.sqrt(values)[:, None, :]
    wrong = ModelMoments(MOMENTS.mean, roots @ np.array([[1.0, 0.5], [0.5, 1.0]]) @ roots.swapaxes(1, 2))
    found = compare_moments(gaussians(rng, wrong, 400), MOMENTS, level=1e-3)
    assert not found.agrees
    assert found.what == "covariance"


def test_directions_without_noise_must_not_vary():
    flat = ModelMoments(MOMENTS.mean, np.array([np.diag([1.0, 0.0])] * 3))
    rng = np.random.default_rng(7)
    samples = flat.mean + rng.standard_normal((100, 3, 2)) * np.array([1.0, 0.0])
    assert compare_moments(samples, flat, level=1e-3).agrees
    samples[3, 1, 1] += 1e-3
    found = compare_moments(samples, flat, level=1e-3)
    assert found.ratio == np.inf
    json.dumps(found.as_json(), allow_nan=False)


def test_repetitions_are_reproducible_and_depend_on_the_seed():
    seen = []

    def run(f):
        models = fedavg(f)
        if f.noise > 0:
            seen.append(models[-1])
        return models

    conform(run, "fedavg", noisy=True, replicates=20, seed=3)
    first = np.array(seen)
    seen.clear()
    conform(run, "fedavg", noisy=True, replicates=20, seed=3)
    np.testing.assert_array_equal(first, np.array(seen))
    seen.clear()
    conform(run, "fedavg", noisy=True, replicates=20, seed=4)
    assert not np.any(first == np.array(seen))
