"""Curvatures that are measured, against Hessians that are known."""

import numpy as np
import pytest

import fltheory as fl
from fltheory.problems import measuring
from fltheory.problems.measuring import measure


def symmetric(spectrum, seed):
    basis, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(spectrum), len(spectrum))))
    return basis @ np.diag(spectrum) @ basis.T


def test_both_ends_of_several_spectra_are_found_with_few_products():
    spectra = [np.concatenate([[-3.0], np.linspace(0.0, 1.0, 150), [7.0]]), np.linspace(-8.0, -1.0, 152)]
    matrices = np.stack([symmetric(spectrum, seed) for seed, spectrum in enumerate(spectra)])
    asked = []

    def product(v):
        asked.append(1)
        return np.einsum("kij,kj->ki", matrices, v)

    found = measuring._lanczos(product, np.random.default_rng(5).standard_normal((2, 152)))
    assert len(asked) <= measuring.STEPS
    for (low, high), spectrum in zip(found, spectra, strict=True):
        size = np.abs(spectrum).max()
        assert spectrum.min() - 1e-9 <= low <= spectrum.min() + 0.02 * size
        assert spectrum.max() - 0.02 * size <= high <= spectrum.max() + 1e-9


def test_operators_with_few_eigenvalues_end_early_and_add_no_zeros():
    matrices = np.stack([2.0 * np.eye(90), symmetric(np.repeat([1.0, 5.0], 45), 0), np.zeros((90, 90))])
    asked = []

    def product(v):
        asked.append(1)
        return np.einsum("kij,kj->ki", matrices, v)

    found = measuring._lanczos(product, np.random.default_rng(5).standard_normal((3, 90)))
    np.testing.assert_allclose(found, [(2.0, 2.0), (1.0, 5.0), (0.0, 0.0)], atol=1e-9)
    assert len(asked) <= 3


@pytest.mark.parametrize("memory", [measuring.MEMORY, 1])
def test_large_models_are_measured_as_small_ones(monkeypatch, memory):
    problem = fl.client_quadratics(dim=6, num_clients=3, mu=0.5, L=4.0, dissimilarity=1.0)
    at = problem.start[None]
    whole = measure(problem, at)
    monkeypatch.setattr(measuring, "SMALL", 1)
    monkeypatch.setattr(measuring, "MEMORY", memory)
    for name in ("mu", "L"):
        assert measure(problem, at)[name].value == pytest.approx(whole[name].value, rel=1e-6)
    assert "by differences of gradients" in whole["L"].note
