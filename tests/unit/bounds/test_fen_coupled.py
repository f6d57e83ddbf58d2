"""FedElasticNet on losses whose coordinates do not separate, so that holding one of them depends on the others."""

import itertools
from dataclasses import dataclass, replace

import numpy as np
import pytest

from fltheory.bounds import catalogue
from fltheory.bounds.fen import _round
from fltheory.bounds.functions import Solved, signs
from fltheory.bounds.space import Integer, Real, Space
from fltheory.validation.search import random_points
from fltheory.validation.terms import Change, terms
from fltheory.validation.trials import Trials


@dataclass(frozen=True)
class Coupled:
    """Quadratics with any Hessians, ``(clients, dim, dim)``, and the questions that instances ask of losses."""

    centre: np.ndarray
    hessian: np.ndarray

    def value(self, client, w):
        return (w - self.centre[client]) @ self.hessian[client] @ (w - self.centre[client]) / 2

    def gradient(self, client, w):
        return self.hessian[client] @ (w - self.centre[client])

    def gradients(self, w):
        return np.einsum("kij,kj->ki", self.hessian, np.broadcast_to(w, self.centre.shape) - self.centre)

    def mean(self, w):
        away = w[..., None, :] - self.centre
        return np.asarray(np.einsum("...ki,kij,...kj->...", away, self.hessian, away) / (2 * len(self.centre)))

    def stationary(self, tilt=None):
        pull = np.einsum("kij,kj->i", self.hessian, self.centre) / len(self.centre) + (0 if tilt is None else tilt)
        return np.linalg.solve(self.hessian.mean(axis=0), pull)

    def elastic(self, linear, anchor, *, pull, l1):
        """Try every choice of held and moving coordinates; one of them fulfils the conditions of optimality."""
        dim = self.centre.shape[1]
        linear, anchor = (np.broadcast_to(x, self.centre.shape) for x in (linear, anchor))
        moved = np.zeros(self.centre.shape)
        for k in range(len(self.centre)):
            slope = self.gradient(k, anchor[k]) - linear[k]
            total = self.hessian[k] + pull * np.eye(dim)
            found = []
            for pattern in map(np.array, itertools.product((0, -1, 1), repeat=dim)):
                on, step = pattern != 0, np.zeros(dim)
                step[on] = np.linalg.solve(total[np.ix_(on, on)], -(slope + l1 * pattern)[on])
                rest = np.abs(total @ step + slope) - l1
                found.append((np.where(on, -step * pattern, rest).max(), tuple(step)))
            moved[k] = min(found)[1]
        return Solved(anchor + moved, signs(moved))


def losses(point):
    turns = []
    for angle in point["turn"]:
        turn = np.eye(point["d"])
        turn[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        turns.append(turn if point["d"] == 2 else turn @ np.roll(turn, 1, axis=(0, 1)))
    hessian = np.stack([t @ np.diag(h) @ t.T for t, h in zip(turns, point["beta"] * point["left"], strict=True)])
    return Coupled(point["centre"], hessian)


@pytest.fixture
def coupled(monkeypatch):
    """Instances of FedElasticNet with turned Hessians."""
    monkeypatch.setattr(_round, "losses", losses)

    def trials(id_, form):
        claim = catalogue.index()[id_].load()
        source = claim.check_of(form)
        # Strictly convex, so that everything has one minimiser.
        more = {
            "d": Integer(2, 3),
            "left": Real(0.02, 1, shape=("m", "d")),
            "turn": Real(0.1, 1.4, shape=("m",)),
        }
        if "T" in source.space.parameters:
            more["T"] = Integer(1, 6)
        space = Space({**source.space.parameters, **more})
        return Trials(claim, form, replace(source, space=space, rational=False), 0)

    return trials


def test_sub_problems_are_solved_by_the_conditions_of_optimality():
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(20):
        half = rng.normal(size=(2, 3, 3))
        clients = Coupled(rng.normal(size=(2, 3)), half @ half.swapaxes(1, 2) + 0.1 * np.eye(3))
        linear, anchor = rng.normal(size=(2, 3)), rng.normal(size=3)
        found = clients.elastic(linear, anchor, pull=0.5, l1=1.0)
        kick = linear - clients.gradients(found.at) - 0.5 * (found.at - anchor)
        assert np.abs(kick).max() <= 1 + 1e-9
        np.testing.assert_allclose(kick[found.sign != 0], found.sign[found.sign != 0], atol=1e-9)
        held += int((found.sign == 0).sum())
    assert 0 < held < 120


@pytest.mark.parametrize(
    ("id_", "variant"),
    [
        ("fen.lemma-b.3", "corrected"),
        ("fen.lemma-b.4", "corrected"),
        ("fen.lemma-b.5", "corrected"),
        ("fen.lemma-b.5", "corrected@stored"),
        ("fen.theorem-b.6", "corrected"),
        ("fen.theorem-b.6", "corrected@subgradient"),
        ("fen.theorem-3.1", "corrected"),
        ("fen.theorem-3.1", "corrected@subgradient"),
    ],
)
def test_corrected_forms_hold_for_coupled_losses(coupled, id_, variant):
    claim = catalogue.index()[id_].load()
    trials = coupled(id_, claim.form(variant))
    for point in random_points(trials.source.space, np.random.default_rng(1), 60):
        trials.attempt(point)
    assert trials.instances > 40
    assert not trials.violated, trials.best


@pytest.mark.parametrize("id_", ["fen.theorem-b.6", "fen.theorem-3.1"])
def test_coupled_losses_would_show_a_form_that_lacks_a_term(coupled, id_):
    form = catalogue.index()[id_].load().form("corrected")
    points = list(random_points(coupled(id_, form).source.space, np.random.default_rng(1), 60))
    failing = set()
    for term in (one for one in terms(form) if one.place == r"\text{statement}"):
        trials = coupled(id_, term.changed(Change.DELETED))
        for point in points:
            if not trials.violated:
                trials.attempt(point)
        if trials.violated:
            failing.add(term.shown)
    assert failing
