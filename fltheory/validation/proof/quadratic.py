r"""Certificates by semidefinite programs: a goal is a weighted sum of hypotheses plus a sum of squares.

Symbols for vectors occur in products of two, which stand for inner products; all else is linear. A goal
:math:`p \ge 0` follows from :math:`g_i \ge 0` and :math:`h_j = 0`, for vectors of any dimension, if

.. math:: p - \sum_i \lambda_i g_i - \sum_j \nu_j h_j = c + \sum_{a,b} S_{ab} \langle v_a, v_b\rangle, \qquad
    \lambda \ge 0,\; c \ge 0,\; S \succeq 0 .

A semidefinite program finds the weights. They are rounded to rational numbers, such that numbers cancel exactly and
vectors that :math:`S` maps to zero are still mapped to zero. What is stored are the weights; the rest is expanded and
its matrix is factored in rational arithmetic whenever the certificate is replayed.
"""

from __future__ import annotations

import importlib
import itertools
import warnings
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from fltheory.validation.proof import sparse
from fltheory.validation.proof.sequent import Sequent, Sign, fraction_text

MOST = 1500
"""Hypotheses in one semidefinite program."""

LARGEST_MATRIX = 60
"""Vectors in one semidefinite program."""

_TINY = 1e-6
"""Weights and eigenvalues, relative to the largest, that count as zero while rounding."""

_PRECISE = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-12)

_DENOMINATORS = (10**4, 10**7, 10**10)

MOST_REDUCED = 6
"""Problems with few hypotheses whose solutions are rounded, the smallest first."""

_PRECISION = 1e-8
"""How far from zero numbers and eigenvalues, relative to the largest, may be in a solution that is believed."""


def attempt(sequent: Sequent) -> dict[str, Any] | None:
    """Return weights of the hypotheses that prove a problem; ``None`` if none are found."""
    if sequent.goal.sign is not Sign.NONNEGATIVE or len(sequent.hypotheses) > MOST:
        return None
    problem = _Program(sequent)
    if len(problem.vectors) > LARGEST_MATRIX:
        return None
    for places, weights in _candidates(sequent, problem):
        part = {"weights": [[n, fraction_text(w)] for n, w in zip(places, weights, strict=True) if w]}
        if verified(sequent, part):
            return part
    return None


def _candidates(sequent: Sequent, problem: _Program) -> Iterator[tuple[Sequence[int], Any]]:
    """Yield rational weights and the places of their hypotheses: of all, if there is room; of few; of all again."""
    places = range(len(problem.facts))
    first = problem.solved(np.ones(len(places), dtype=bool), interior=True)
    if first is not None:
        weights = problem.near(first)
        if weights is not None:
            yield places, weights
    few = _of_few(sequent)
    if few is not None:
        yield few
    for floats in problem.solutions(first):
        for weights in problem.rounded(floats):
            yield places, weights


def _of_few(sequent: Sequent) -> tuple[list[int], Any] | None:
    """Return weights of few hypotheses, and the places of those; ``None`` if none are found."""

    def solve(smaller: Sequent) -> Any:
        program = _Program(smaller)
        weights = program.solved(np.ones(len(program.facts), dtype=bool), interior=False)
        return weights if weights is not None and program.satisfied(weights) else None

    for smaller, places in itertools.islice(sparse.reduced(sequent, solve), MOST_REDUCED):
        program = _Program(smaller)
        floats = program.solved(np.ones(len(program.facts), dtype=bool), interior=True)
        for weights in () if floats is None else program.rounded(floats):
            part = {"weights": [[n, fraction_text(w)] for n, w in enumerate(weights) if w]}
            if verified(smaller, part):
                return places, weights
    return None


def verified(sequent: Sequent, part: Mapping[str, Any]) -> bool:
    """Return whether stored weights prove a problem."""
    if sequent.goal.sign is not Sign.NONNEGATIVE:
        return False
    rest = sequent.goal.polynomial
    for number, text in part["weights"]:
        if not isinstance(number, int) or not 0 <= number < len(sequent.hypotheses):
            return False
        weight, fact = Fraction(text), sequent.hypotheses[number]
        if weight < 0 and fact.sign is not Sign.ZERO:
            return False
        rest -= fact.polynomial * sp.QQ(weight.numerator, weight.denominator)
    entries: dict[tuple[int, int], Any] = {}
    for monomial, number in rest.items():
        places = [n for n, power in enumerate(monomial) for _ in range(power)]
        if not places:
            if number < 0:
                return False
        elif len(places) == 2:
            entries[places[0], places[1]] = number
        else:
            return False
    used = sorted({n for pair in entries for n in pair})
    at = {n: i for i, n in enumerate(used)}
    matrix = [[sp.QQ(0)] * len(used) for _ in used]
    for (a, b), number in entries.items():
        matrix[at[a]][at[b]] += number * sp.QQ(1, 2)
        matrix[at[b]][at[a]] += number * sp.QQ(1, 2)
    return positive_semidefinite(matrix)


def positive_semidefinite(matrix: Sequence[Sequence[Any]]) -> bool:
    """Return whether a symmetric matrix of rationals has no negative eigenvalue, by elimination without rounding.

    Numbers are those of ``sympy.QQ``, which are faster than fractions where python-flint is installed, or fractions.

    >>> positive_semidefinite([[Fraction(1), Fraction(2)], [Fraction(2), Fraction(4)]])
    True
    >>> positive_semidefinite([[Fraction(1), Fraction(2)], [Fraction(2), Fraction(4) - Fraction(1, 10**30)]])
    False
    """
    rows = [list(row) for row in matrix]
    for step in range(len(rows)):
        pivot = rows[step][step]
        if pivot < 0 or (pivot == 0 and any(rows[step][step:])):
            return False
        others = [(column, entry) for column, entry in enumerate(rows[step]) if column > step and entry]
        for place, (below, entry) in enumerate(others):
            factor, changed = entry / pivot, rows[below]
            # The matrix stays symmetric, so that its upper half is enough.
            for column, number in others[place:]:
                changed[column] -= factor * number
    return True


class _Program:
    """The semidefinite program of a problem, in floats and in rationals."""

    def __init__(self, sequent: Sequent) -> None:
        self.facts = sequent.hypotheses
        polynomials = [sequent.goal.polynomial, *(fact.polynomial for fact in self.facts)]
        monomials = sorted({m for polynomial in polynomials for m in polynomial.monoms()}, reverse=True)
        products = [m for m in monomials if sum(m) == 2]
        self.vectors = sorted({n for m in products for n, power in enumerate(m) if power})
        self.linear = [m for m in monomials if sum(m) not in (0, 2)]
        self.pairs = {
            (a, b): self._monomial(len(monomials[0]), u, v) if monomials else ()
            for a, u in enumerate(self.vectors)
            for b, v in enumerate(self.vectors)
            if a <= b
        }
        self.polynomials = polynomials

    @staticmethod
    def _monomial(count: int, u: int, v: int) -> tuple[int, ...]:
        powers = [0] * count
        powers[u] += 1
        powers[v] += 1
        return tuple(powers)

    def _values(self, monomials: Sequence[Any]) -> Any:
        """Return coefficients: one row per monomial, the goal first, then one column per hypothesis."""
        return np.array([[float(p.get(m, 0)) for p in self.polynomials] for m in monomials]).reshape(
            len(monomials), len(self.polynomials)
        )

    def solutions(self, first: Any) -> Iterator[Any]:
        """Yield weights in floats: far from singular matrices, then few hypotheses, with which programs are precise."""
        if first is not None:
            yield first
        everything = np.ones(len(self.facts), dtype=bool)
        second = self.solved(everything, interior=False)
        if second is None:
            return
        yield second
        tried = {everything.tobytes()}
        for tiny in (1e-5, 1e-4, 1e-3, 1e-2):
            used = np.abs(second) > tiny * np.abs(second).max(initial=0.0)
            if used.tobytes() not in tried:
                tried.add(used.tobytes())
                found = self.solved(used, interior=False)
                if found is not None:
                    yield found

    def solved(self, used: Any, *, interior: bool) -> Any:
        """Return weights in floats; if ``interior``, such that the matrix is as far from singular as possible."""
        cp: Any = importlib.import_module("cvxpy")  # loaded only where a program is solved

        count, size = len(self.facts), len(self.vectors)
        weights = cp.Variable(count)
        free = np.array([fact.sign is Sign.ZERO for fact in self.facts], dtype=bool)
        conditions: list[Any] = []
        if not free.all():
            conditions.append(weights[np.flatnonzero(~free)] >= 0)
        if not used.all():
            conditions.append(weights[np.flatnonzero(~used)] == 0)
        constant = (0,) * len(self.polynomials[0].ring.gens)
        rows = self._values([constant, *self.linear])
        rest = rows[:, 0] - rows[:, 1:] @ weights
        conditions.append(rest[0] >= 0)
        if self.linear:
            conditions.append(rest[1:] == 0)
        margin = cp.Variable()
        if size:
            matrix = cp.Variable((size, size), symmetric=True)
            pairs = list(self.pairs)
            values = self._values([self.pairs[pair] for pair in pairs])
            halves = np.array([1.0 if a == b else 2.0 for a, b in pairs])
            entries = cp.hstack([matrix[a, b] for a, b in pairs])
            conditions.append(cp.multiply(halves, entries) == values[:, 0] - values[:, 1:] @ weights)
            conditions.append(matrix - margin * np.eye(size) >> 0)
        conditions += [margin <= 1, margin >= 0] if interior else [margin == 0]
        program = cp.Problem(
            cp.Maximize(margin) if interior else cp.Minimize(1e-3 * cp.sum(weights[np.flatnonzero(~free)])), conditions
        )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                program.solve(solver=cp.CLARABEL, **_PRECISE)
        except (cp.error.SolverError, ValueError):
            return None
        except BaseException as error:
            # A panic of the solver, which is written in Rust, is no exception of Python's; it has no public type.
            if type(error).__name__ != "PanicException":
                raise
            return None
        if weights.value is None or program.status not in ("optimal", "optimal_inaccurate"):
            return None
        return np.asarray(weights.value, dtype=float)

    def _matrix(self, floats: Any) -> Any:
        """Return the matrix of the squares that are left, in floats."""
        values = self._values(list(self.pairs.values()))
        rest = values[:, 0] - values[:, 1:] @ floats
        matrix = np.zeros((len(self.vectors), len(self.vectors)))
        for (a, b), entry in zip(self.pairs, rest, strict=True):
            matrix[a, b] = matrix[b, a] = entry if a == b else entry / 2
        return matrix

    def satisfied(self, floats: Any) -> bool:
        """Return whether weights solve the program, as far as floats can tell."""
        rows = self._values(self.linear)
        rest = rows[:, 0] - rows[:, 1:] @ floats
        eigenvalues = np.linalg.eigvalsh(self._matrix(floats)) if self.vectors else np.zeros(1)
        off = float(np.abs(rest).max(initial=0.0))
        return bool(off < _PRECISION and eigenvalues[0] > -_PRECISION * max(eigenvalues[-1], 1e-12))

    def near(self, floats: Any) -> Any:
        """Return rational weights near those given, with numbers cancelled; ``None`` if there are none."""
        return _near(self._conditions([], list(range(len(floats)))), list(floats), _DENOMINATORS[1])

    def rounded(self, floats: Any) -> Any:
        """Yield rational weights near those given, with numbers cancelled and vectors that are mapped to zero kept."""
        largest = float(np.abs(floats).max(initial=0.0))
        tried: set[tuple[int, ...]] = set()
        for tiny in (_TINY, 1e-4, 0.0):
            used = [n for n in range(len(floats)) if abs(floats[n]) > tiny * largest]
            if tuple(used) in tried:
                continue
            tried.add(tuple(used))
            for null in self._kernels(floats):
                conditions = self._conditions(null, used)
                for denominator in _DENOMINATORS:
                    found = _near(conditions, [floats[n] for n in used], denominator)
                    if found is not None:
                        weights = [sp.QQ(0)] * len(floats)
                        for n, weight in zip(used, found, strict=True):
                            weights[n] = weight
                        yield weights

    def _kernels(self, floats: Any) -> Any:
        """Yield sets of rational vectors that the matrix seems to map to zero, the empty one first."""
        yield []
        size = len(self.vectors)
        if not size:
            return
        eigenvalues, eigenvectors = np.linalg.eigh(self._matrix(floats))
        for tiny in (1e-8, 1e-6, 1e-4):
            count = int((eigenvalues < tiny * max(eigenvalues[-1], 1e-12)).sum())
            if not count:
                continue
            kernel = _echelon(eigenvectors[:, :count].T)
            for denominator in (64, 1000, 20000):
                yield [[Fraction(float(x)).limit_denominator(denominator) for x in row] for row in kernel]

    def _conditions(self, null: list[list[Fraction]], used: list[int]) -> list[tuple[dict[int, Any], Any]]:
        """Return linear equations for the weights in use: coefficients, and right-hand side."""
        equations = [[p.get(monomial, sp.QQ(0)) for p in self.polynomials] for monomial in self.linear]
        for vector in null:
            for row in range(len(self.vectors)):
                total = [sp.QQ(0)] * len(self.polynomials)
                for column, entry in enumerate(vector):
                    if entry:
                        monomial = self.pairs[min(row, column), max(row, column)]
                        factor = sp.QQ(entry.numerator, entry.denominator) * (2 if row == column else 1)
                        for n, p in enumerate(self.polynomials):
                            value = p.get(monomial)
                            if value:
                                total[n] += value * factor
                equations.append(total)
        return [({place: row[1 + n] for place, n in enumerate(used) if row[1 + n]}, row[0]) for row in equations]


def _echelon(rows: Any) -> Any:
    """Return a basis of the same space with unit columns where entries are largest."""
    matrix = np.array(rows, dtype=float)
    for step in range(len(matrix)):
        left = np.abs(matrix[step:])
        row, column = divmod(int(left.argmax()), matrix.shape[1])
        matrix[[step, step + row]] = matrix[[step + row, step]]
        matrix[step] /= matrix[step, column]
        for other in range(len(matrix)):
            if other != step:
                matrix[other] -= matrix[other, column] * matrix[step]
    return matrix


def _near(equations: list[tuple[dict[int, Any], Any]], floats: list[float], denominator: int) -> list[Any] | None:
    """Return a rational solution of linear equations, some of whose entries are rounded and the others follow."""
    from sympy.polys.matrices import DomainMatrix

    count = len(floats)
    # Large entries are solved for, so that they absorb what rounding changes.
    order = sorted(range(count), key=lambda n: -abs(floats[n]))
    place = {n: at for at, n in enumerate(order)}
    table = {
        row: {**{place[n]: v for n, v in coefficients.items()}, **({count: right} if right else {})}
        for row, (coefficients, right) in enumerate(equations)
        if coefficients or right
    }
    guess = [Fraction(floats[n]).limit_denominator(denominator) for n in order]
    values = [sp.QQ(g.numerator, g.denominator) for g in guess]
    if table:
        renumbered = dict(enumerate(table.values()))
        reduced, pivots = DomainMatrix(renumbered, (len(renumbered), count + 1), sp.QQ).to_sparse().rref()
        if count in pivots:
            return None
        entries = reduced.to_dok()
        rows: dict[int, dict[int, Any]] = {}
        for (row, column), value in entries.items():
            rows.setdefault(row, {})[column] = value
        for row, pivot in enumerate(pivots):
            total = rows[row].get(count, sp.QQ(0))
            for column, value in rows[row].items():
                if column not in (pivot, count):
                    total -= value * values[column]
            values[pivot] = total
    back = [sp.QQ(0)] * count
    for at, n in enumerate(order):
        back[n] = values[at]
    return back
