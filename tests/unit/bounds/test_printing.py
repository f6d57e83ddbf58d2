r"""Statements as LaTeX: they say what the expression says, in the order in which papers write."""

import cmath

import pytest
import sympy as sp

from fltheory.bounds import catalogue
from fltheory.bounds.algebra import EE, BigO, Inner, Norm, NormSq, Pos
from fltheory.bounds.printing import latex
from fltheory.bounds.quantities import family, function, index, scalar
from tests.printed_value import both_values

k = index("k")
mu = scalar("test_mu", r"\mu", "strong convexity")
eta = scalar("test_eta", r"\eta_\tau", "learning rate")
theta = scalar("test_theta", r"\theta", "largest ratio of weights")
L = scalar("test_L", "L", "smoothness")
N = scalar("test_N", "N", "number of clients")
T = scalar("test_T", "T", "number of rounds")
gamma = scalar("test_gamma", r"\gamma", "offset")
sigma = scalar("test_sigma", r"\sigma", "noise")
w_star = scalar("test_w_star", "w^*", "minimiser")
expected = scalar("test_expected", r"\mathbb{E}[\sum_k p_k]", "mean weight")
gap = scalar("test_gap", r"f(w - v) - f^*", "distance to the minimum")
w = family("test_w", r"\bar w_{<0>}", "models")
p = family("test_p", "p_{<0>}", "weights")
alpha = family("test_alpha", r"\alpha_{<0>}", "whether a step is taken")
g = family("test_g", "g_{<0>}", "gradients")
Gamma = family("test_Gamma", r"\Gamma_{<0>}", "heterogeneity")
F = function("test_F", "F_{<0>}(<1>)", "objectives")

ENTRIES = catalogue.index()


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (1 - mu * eta / 2, r"1 - \frac{\mu \eta_\tau}{2}"),
        (theta + 1, r"1 + \theta"),
        (T + 1, "T + 1"),
        (N - 1, "N - 1"),
        (N - k - 1, "N - k - 1"),
        (-gamma - 1, r"- \gamma - 1"),
        (1 - eta * L, r"1 - \eta_\tau L"),
        (NormSq(-w_star + w[k]), r"\|\bar w_{k} - w^*\|^{2}"),
        (F(k, w_star) - F(k, w[k]), r"F_{k}(w^*) - F_{k}({\bar w_{k}})"),
        (mu / (L * (2 * theta + 2)), r"\frac{\mu}{2 (1 + \theta) L}"),
        (mu * NormSq(w[k]) / 4, r"\frac{\mu}{4} \|\bar w_{k}\|^{2}"),
        (eta * Gamma[k] * alpha[k] * p[k], r"\eta_\tau p_{k} \alpha_{k} \Gamma_{k}"),
        (2 * sigma**2 * eta**2 + eta * mu, r"\mu \eta_\tau + 2 \eta_\tau^{2} \sigma^{2}"),
        (sp.Sum(p[k] * (g[k] - w[k]), (k, 1, N)) / N, r"\frac{1}{N} \sum_{k=1}^{N} p_{k} (g_{k} - \bar w_{k})"),
        (sp.Sum(p[k], (k, 1, N)) ** 2, r"\left(\sum_{k=1}^{N} p_{k}\right)^{2}"),
        (expected**2 * mu**2, r"\mu^{2} \mathbb{E}[\sum_k p_k]^{2}"),
        (1 / expected, r"\frac{1}{\mathbb{E}[\sum_k p_k]}"),
        (Pos(N - 2) * p[k], "p_{k} (N - 2)_{+}"),
        (EE(Norm(g[k]) ** 2), r"\mathbb{E}[\|g_{k}\|^{2}]"),
        (-2 * Inner(g[k], w[k]), r"- 2 \langle g_{k}, \bar w_{k}\rangle"),
        (BigO(sp.log(T) / sp.sqrt(T)), r"O\left(\frac{\log(T)}{\sqrt{T}}\right)"),
        (sp.Max(gamma / 2, 1), r"\max\left(1, \frac{\gamma}{2}\right)"),
        (mu * gap, r"\mu (f(w - v) - f^*)"),
        (mu - gap, r"\mu - (f(w - v) - f^*)"),
        (gap + 1, r"1 + f(w - v) - f^*"),
        (sp.binomial(N, k) * mu, r"{\binom{N}{k}} \mu"),
    ],
)
def test_formulas_stand_as_papers_write_them(expression, text):
    assert latex(expression) == text


def additions(id_):
    for form in ENTRIES[id_].load().forms:
        for part in form.parts():
            yield from part.atoms(sp.Add)


@pytest.mark.parametrize("id_", sorted(ENTRIES))
def test_no_sum_starts_with_a_minus_if_it_has_a_positive_term(id_):
    for addition in additions(id_):
        if not all(term.could_extract_minus_sign() for term in addition.args):
            assert not latex(addition).startswith("-"), latex(addition)


@pytest.mark.parametrize("id_", sorted(ENTRIES))
def test_what_is_printed_is_worth_what_the_expression_is_worth(id_):
    for form in ENTRIES[id_].load().forms:
        for relation in (*form.relations, *form.premises):
            for side in (relation.lhs, relation.rhs):
                value, printed = both_values(side)
                assert cmath.isclose(value, printed, rel_tol=1e-9), latex(side)


@pytest.mark.parametrize(
    "expression",
    [
        mu * (theta - 1) / (2 * L),
        (1 - mu) ** 2 * NormSq(w[k]) - 3 * (L + 1) / (N * sp.sqrt(mu)),
        sp.Sum(p[k], (k, 1, N)) * sp.Sum(g[k] + 1, (k, 1, N)),
        sp.Rational(-3, 4) * (mu - L) / (gamma + 1) ** 2,
        -(mu + L) * theta,
        sp.sqrt(2) * mu / 3,
        sp.exp(-mu * T) * (1 - sp.exp(-T)),
        (mu * theta) ** sp.Rational(1, 3) / T,
        sp.Integer(2) ** T * mu,
        NormSq(w[k]) ** 2 / NormSq(g[k]),
        Pos(mu - L) ** 2,
        sp.Max(mu, L) ** 2 * sp.Min(theta, 1),
    ],
)
def test_brackets_signs_and_exponents_survive(expression):
    value, printed = both_values(expression)
    assert cmath.isclose(value, printed, rel_tol=1e-9), latex(expression)
