r"""LaTeX as text that a terminal shows."""

import inspect
import re

import pytest

from fltheory.bounds import catalogue
from fltheory.bounds.plain_text import plain

ENTRIES = catalogue.index()


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"1 - \frac{\mu \eta}{2}", "1 - (μ η)/2"),
        (r"\frac12\mu", "1/2 μ"),
        (r"\frac{1}{EV}", "1/(EV)"),
        (r"\frac{a}{b_1} c", "a/b₁ c"),
        (r"\left(1 + \theta\right)^{2}", "(1 + θ)²"),
        (r"x^{10} y_{12} z^{a+1}", "x¹⁰ y₁₂ z^(a+1)"),
        (r"\sum_{k=1}^{N} p_\tau^{k}", "∑_{k=1}^N p_τ^k"),
        (r"\bar w_{\tau E} - w^*", "w̄_{τ E} - w*"),
        (r"\mathcal{R}(x) \in \mathbb{E}", "ℛ(x) ∈ 𝔼"),
        (r"\sqrt{2} + \sqrt[3]{x + 1}", "√2 + ³√(x + 1)"),
        (r"\|x\|^{2} \le \max\Bigl\{a, b\Bigr\}", "‖x‖² ≤ max{a, b}"),
        (r"\operatorname{sign}(x) \lambda_1", "sign(x) λ₁"),
        (r"a &= b \tag{3} \\ &= c", "a = b  (3)\n= c"),
        (r"\binom{N}{i}", "C(N, i)"),
        (r"\vartheta + \varphi \varrho", "ϑ + φ ϱ"),
        (r"\frac{3H}4x + \log\cosh\frac xw + \log\left(x\right)", "3H/4 x + log cosh x/w + log(x)"),
        (r"x^{(k)} y^{t-1} z^{(a)(b)}", "x^(k) y^(t-1) z^((a)(b))"),
    ],
)
def test_formulas_are_readable(latex, text):
    assert plain(latex) == text


@pytest.mark.parametrize("id_", sorted(ENTRIES))
def test_no_command_is_left(id_):
    page = inspect.getdoc(ENTRIES[id_].module()) or ""
    formulas = re.findall(r":math:`([^`]*)`", page) + [form.latex() for form in ENTRIES[id_].load().forms]
    for formula in formulas:
        assert "\\" not in plain(formula), formula
        assert not re.search(r"[{]\s*[}]", plain(formula)), formula
