r"""Table 1: the rows of the paper's own results against its theorems.

Numbers of rounds as printed in the table and in Theorems 4.1, 4.5 and 4.6. Both are orders; the plain forms compare
them term by term, with all constants equal to one, the forms ``soft`` up to a constant that may contain :math:`L`,
which the theorems leave out. Readable rows:

* CFL-R, strongly convex: the table has :math:`M_\mu/(\mu\sqrt\varepsilon)` with :math:`M_\mu = \frac\sigma{\sqrt{NK}}
  + D + \frac G{\sqrt\mu} + \frac\sigma{\sqrt{\mu K}}`; Theorem 4.1 adds up to :math:`M_\mu/\sqrt{\mu\varepsilon}`.
  They differ by :math:`\sqrt\mu`, and no constant makes up for it as :math:`\mu \to 0` with :math:`L` fixed.
* CFL-R, general convex: agrees with Theorem 4.1.
* Continual learning, strongly convex: the table lacks the term :math:`\sigma/\sqrt{\mu K\varepsilon}` of Theorem 4.6.
  Since :math:`\mu \le L` it is at most :math:`\sqrt L` times :math:`\sigma/(\mu\sqrt{K\varepsilon})`, which is there,
  so the row and the theorem are of the same order.
* Continual learning, general convex: the table has :math:`\sigma F/(\sqrt K\varepsilon)` and :math:`\sigma F^2/(\sqrt
  K\varepsilon^3)` where Theorem 4.6 has :math:`\sigma F/\sqrt{K\varepsilon}` and :math:`\sigma
  F^2/\sqrt{K\varepsilon^3}`: both roots end one symbol earlier. With the second root as in the theorem (``long-root``)
  the row is at most of the order of the theorem: if :math:`\varepsilon \le \frac L2F^2`, which a start at distance
  :math:`F` fulfils anyway, then :math:`\frac{\sigma F}{\sqrt K\varepsilon} \le \sqrt{\tfrac L2}\,\frac{\sigma
  F^2}{\sqrt{K\varepsilon^3}}`.
* FedAvg, general convex: agrees with Theorem 4.5. The strongly convex row cannot be read in the scan.

**Derivation of the corrected form.** The rows with the terms of the theorems: :math:`M_\mu/\sqrt{\mu\varepsilon}` for
CFL-R; the missing term added, and the roots of Theorem 4.6, for continual learning. Whether the theorems hold is not
the question here.

Instances: positive numbers for all symbols, :math:`L` a multiple of :math:`\mu`. Roots are taken as they are printed
in the table and in the theorem; Theorem 4.1 has the short root :math:`\sqrt K\varepsilon^3` itself. For
``cflr-sc-soft`` :math:`\mu` falls with :math:`L = 1` and all other symbols fixed.

Source: Guo et al., 2021, Table 1 and Theorems 4.1, 4.5, 4.6.
"""

from __future__ import annotations

from typing import Any

from sympy import Eq, Le, Rational, sqrt

from fltheory.bounds.algebra import BigO
from fltheory.bounds.claim import Assumption, Citation, Claim, Form, Instances, Kind, Sweep, Sweeps
from fltheory.bounds.quantities import scalar
from fltheory.bounds.space import Params, Real, Space
from fltheory.bounds.symbols import L, mu
from fltheory.problems.problem import Origin

N = scalar("N", "N", "number of clients, here any positive number", domain="positive")
K = scalar("K", "K", "local steps per round, here any positive number", domain="positive")
G = scalar("G", "G", "root of the bound on the squared client drift", domain="nonnegative")
D = scalar("D", "D", "root of the bound on the squared round drift", domain="nonnegative")
A = scalar("A", "A", "growth of the round drift with the gradient", domain="nonnegative")
B = scalar("B", "B", "growth of the client drift with the gradient", domain="nonnegative")
sigma = scalar("sigma", r"\sigma", "root of the bound on the variance of a stochastic gradient", domain="nonnegative")
eps = scalar("eps", r"\varepsilon", "accuracy that is asked for", domain="positive")
F = scalar("F", "F", "distance of the start from the minimiser", domain="nonnegative")
third = Rational(1, 3)
c_B = 1 + B**2 + A**2
M = sigma / sqrt(N * K) + D
M_mu = M + G / sqrt(mu) + sigma / sqrt(mu * K)
cube = (D**2 / (mu**2 * eps)) ** third
cube_general = (D**2 * F**4) ** third / eps


names = ("N", "mu", "K", "eps", "G", "D", "A", "B", "sigma", "F")


def realise(point: Params) -> dict[str, Any]:
    """Return the numbers."""
    return {name: point[name] for name in names} | {"L": point["mu"] * point["condition"]}


def flatter(point: Params) -> dict[str, Any]:
    """Return the numbers with a smoothness of one."""
    return realise({**point, "mu": 1.0 / point["condition"]})


def same(row: Any, theorem: Any) -> Eq:
    """Return that a row of the table is what a theorem says."""
    return Eq(row, theorem, evaluate=False)


theorem_41 = (
    c_B / mu + G**2 / (mu * eps) + M / sqrt(mu * eps) + G / (mu * sqrt(eps)) + sigma / (mu * sqrt(K * eps)) + cube
)
theorem_41_general = (
    G**2 * F**2 / eps**2 + (M + c_B) * F / eps + (sqrt(K) * G + sigma) * F**2 / (sqrt(K) * eps**3) + cube_general
)
theorem_46 = (1 + A**2) / mu + sigma / sqrt(mu * K * eps) + D / sqrt(mu * eps) + sigma / (mu * sqrt(K * eps)) + cube
theorem_46_general = (
    sigma * F / sqrt(K * eps) + (D + 1 + A**2) * F / eps + sigma * F**2 / sqrt(K * eps**3) + cube_general
)
theorem_45_general = (
    (B**2 + 1) * F / eps
    + sigma**2 * F**2 / (N * K * eps**2)
    + G**2 * F**2 / eps**2
    + sigma * F**2 / sqrt(K * eps**3)
    + G * F**2 / sqrt(eps**3)
)

row_cflr_sc = c_B / mu + G**2 / (mu * eps) + M_mu / (mu * sqrt(eps)) + cube
row_cl_sc = (1 + A**2) / mu + D / sqrt(mu * eps) + sigma / (mu * sqrt(K * eps)) + cube
row_cl_gc = sigma * F / (sqrt(K) * eps) + (D + 1 + A**2) * F / eps + (D**2 * F**4) ** third / eps
long_root = sigma * F**2 / sqrt(K * eps**3)
space = Space({name: Real(0.1, 4) for name in names} | {"condition": Real(1, 100, log=True)})

claim = Claim(
    id="cfl.table-1",
    kind=Kind.IDENTITY,
    title="rows of the table against the theorems",
    citation=Citation("cfl", "Table 1"),
    forms=(
        Form(
            variant="published@cflr-sc",
            statement=same(row_cflr_sc, theorem_41),
            note="CFL-R, strongly convex, Theorem 4.1, term by term",
        ),
        Form(
            variant="published@cflr-sc-soft",
            statement=Le(row_cflr_sc, BigO(theorem_41)),
            check=Sweeps(
                instances=Instances(space=space, realise=flatter, rational=False),
                sweeps=(Sweep("condition", tuple(10.0**n for n in range(9)), dict.fromkeys(names, 1.0)),),
            ),
            note="row at most the theorem, up to a constant that may contain L",
        ),
        Form(
            variant="published@cflr-gc",
            statement=same(
                G**2 * F**2 / eps**2
                + ((M + c_B) * F + (D**2 * F**4) ** third) / eps
                + (sqrt(K) * G + sigma) * F**2 / (sqrt(K) * eps**3),
                theorem_41_general,
            ),
            note="CFL-R, general convex, Theorem 4.1, term by term",
        ),
        Form(
            variant="published@cl-sc",
            statement=same(row_cl_sc, theorem_46),
            note="continual learning, strongly convex, Theorem 4.6, term by term",
        ),
        Form(
            variant="published@cl-sc-soft",
            statement=(Le(row_cl_sc, theorem_46), Le(theorem_46, (1 + sqrt(L)) * row_cl_sc)),
            assumptions=(Assumption("L at least mu (1)", Le(mu, L), Origin.DECLARED),),
            note="the same, up to a constant that may contain L",
        ),
        Form(
            variant="published@cl-gc",
            statement=same(row_cl_gc + sigma * F**2 / (sqrt(K) * eps**3), theorem_46_general),
            note="continual learning, general convex, Theorem 4.6, term by term, both roots short as printed",
        ),
        Form(
            variant="published@cl-gc-long-root",
            statement=same(row_cl_gc + long_root, theorem_46_general),
            note="term by term, root of the third denominator as in the theorem",
        ),
        Form(
            variant="published@cl-gc-soft",
            statement=Le(row_cl_gc + long_root, (1 + sqrt(L / 2)) * theorem_46_general),
            assumptions=(Assumption("accuracy below the gap of the start", Le(2 * eps, L * F**2), Origin.DECLARED),),
            note="long root; row at most the theorem, up to a constant that may contain L",
        ),
        Form(
            variant="published@fedavg-gc",
            statement=same(
                (B**2 + 1) * F / eps
                + sigma**2 * F**2 / (N * K * eps**2)
                + G**2 * F**2 / eps**2
                + sigma * F**2 / sqrt(K * eps**3)
                + G * F**2 / sqrt(eps**3),
                theorem_45_general,
            ),
            note="FedAvg, general convex, Theorem 4.5, term by term",
        ),
        Form(
            variant="corrected@cflr-sc",
            intended=("published@cflr-sc",),
            statement=same(c_B / mu + G**2 / (mu * eps) + M_mu / sqrt(mu * eps) + cube, theorem_41),
            note="root of mu in the denominator",
        ),
        Form(
            variant="corrected@cl-sc",
            statement=same(
                (1 + A**2) / mu + (D + sigma / sqrt(K)) / sqrt(mu * eps) + sigma / (mu * sqrt(K * eps)) + cube,
                theorem_46,
            ),
            note="missing term added",
        ),
        Form(
            variant="corrected@cl-gc",
            intended=(
                "published@cl-gc",
                "published@cl-gc-long-root",
            ),
            statement=same(
                sigma * F / sqrt(K * eps)
                + (D + 1 + A**2) * F / eps
                + sigma * F**2 / sqrt(K * eps**3)
                + (D**2 * F**4) ** third / eps,
                theorem_46_general,
            ),
            note="roots of the theorem",
        ),
    ),
    uses=("cfl.theorem-4.1-sc", "cfl.theorem-4.1-gc", "cfl.theorem-4.5-gc", "cfl.theorem-4.6-sc", "cfl.theorem-4.6-gc"),
    check=Instances(
        space=space,
        realise=realise,
        rational=False,
    ),
)
