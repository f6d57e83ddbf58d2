"""The operators of statements: expectation, norms, products, positive part, extremes, and the O of rates."""

from __future__ import annotations

from typing import Any

import sympy as sp
from sympy.concrete.expr_with_limits import ExprWithLimits


class EE(sp.Function):
    """Expectation over the outcomes.

    Parameters
    ----------
    args
        One expression with random quantities.

    Examples
    --------
    >>> import numpy as np
    >>> from fltheory.claims import compiled, scalar
    >>> X = scalar("X", "X", "a random number", random=True)
    >>> float(compiled(EE(X**2))({"X": np.array([1.0, 3.0]), "chance": np.array([0.5, 0.5])}))
    5.0
    """

    nargs = 1


class Norm(sp.Function):
    """Euclidean norm of a vector.

    Parameters
    ----------
    args
        One expression whose value is a vector.

    Examples
    --------
    >>> import numpy as np
    >>> from fltheory.claims import compiled, scalar
    >>> w = scalar("w", "w", "a model", shape=("dim",))
    >>> float(compiled(Norm(w))({"w": np.array([3.0, 4.0])}))
    5.0
    """

    nargs = 1


class NormSq(sp.Function):
    """Squared Euclidean norm of a vector.

    Parameters
    ----------
    args
        One expression whose value is a vector.

    Examples
    --------
    >>> import numpy as np
    >>> from fltheory.claims import compiled, scalar
    >>> w = scalar("w", "w", "a model", shape=("dim",))
    >>> float(compiled(NormSq(w))({"w": np.array([3.0, 4.0])}))
    25.0
    """

    nargs = 1


class Inner(sp.Function):
    """Inner product of two vectors.

    Parameters
    ----------
    args
        Two expressions whose values are vectors.

    Examples
    --------
    >>> import numpy as np
    >>> from fltheory.claims import compiled, scalar
    >>> v, w = (scalar(name, name, "a vector", shape=("dim",)) for name in "vw")
    >>> float(compiled(Inner(v, w))({"v": np.array([1.0, 2.0]), "w": np.array([3.0, 4.0])}))
    11.0
    """

    nargs = 2


class Pos(sp.Function):
    """Positive part, ``max(x, 0)``.

    Parameters
    ----------
    args
        One expression.

    Examples
    --------
    >>> from fltheory.claims import compiled, scalar
    >>> x = scalar("x", "x", "a number")
    >>> float(compiled(Pos(x))({"x": -2.0}))
    0.0
    """

    nargs = 1


class Differ(sp.Function):
    """1 if two numbers differ, else 0; in floating point they differ by more than rounding.

    Parameters
    ----------
    args
        Two expressions.

    Examples
    --------
    >>> from fltheory.claims import compiled, scalar
    >>> x = scalar("x", "x", "a number")
    >>> float(compiled(Differ(3 * x, 1))({"x": 1 / 3}))
    0.0
    """

    nargs = 2


class _Extreme(ExprWithLimits):
    sign: str

    def _latex(self, printer: Any) -> str:
        body, *limits = self.args
        signs = "".join(
            rf"\{self.sign}_{{{printer._print(low)} \le {printer._print(v)} \le {printer._print(high)}}} "
            for v, low, high in reversed(limits)
        )
        inner = printer._print(body)
        return signs + (rf"\left({inner}\right)" if isinstance(body, sp.Add) else str(inner))


class Largest(_Extreme):
    """Largest value over an index, written like a sum.

    Parameters
    ----------
    function
        The expression with the index in it.
    symbols
        The index with its first and last value, such as ``(t, 0, T)``.
    assumptions
        Not used; as in SymPy's sums.

    Examples
    --------
    >>> import numpy as np
    >>> from fltheory.claims import compiled, family, index
    >>> t, B = index("t"), family("B", "B_{<0>}", "numbers", first=0)
    >>> float(compiled(Largest(B[t], (t, 0, 2)))({"B": np.array([1.0, 5.0, 2.0])}))
    5.0
    """

    sign = "max"


class Smallest(_Extreme):
    """Smallest value over an index, written like a sum; see :class:`Largest`.

    Parameters
    ----------
    function
        The expression with the index in it.
    symbols
        The index with its first and last value, such as ``(t, 0, T)``.
    assumptions
        Not used; as in SymPy's sums.

    Examples
    --------
    >>> import numpy as np
    >>> from fltheory.claims import compiled, family, index
    >>> t, B = index("t"), family("B", "B_{<0>}", "numbers", first=0)
    >>> float(compiled(Smallest(B[t], (t, 0, 2)))({"B": np.array([1.0, 5.0, 2.0])}))
    1.0
    """

    sign = "min"


class BigO(sp.Function):
    """The right-hand side of a rate: up to a constant that does not depend on what is swept.

    Parameters
    ----------
    args
        One expression, the law without its constant.

    Examples
    --------
    >>> from sympy import Le
    >>> from fltheory.claims import scalar
    >>> error, T = scalar("error", "e_T", "error after T rounds"), scalar("T", "T", "rounds", domain="integer>=1")
    >>> Le(error, BigO(1 / T)).rhs
    BigO(1/T)
    """

    nargs = 1
