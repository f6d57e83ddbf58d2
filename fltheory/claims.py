r"""Everything that a file with a claim of your own needs.

A claim is a published statement, or one of yours, that is printed, evaluated and searched for counterexamples. Write
one file per claim and name its folder with ``--claims``; relations, sums and roots come from SymPy:

>>> from sympy import Le
>>> from fltheory.claims import Citation, Claim, Form, Instances, Kind, Real, Space, scalar
>>> a, b = scalar("a", "a", "any number"), scalar("b", "b", "any number")
>>> claim = Claim(
...     id="own.products",
...     kind=Kind.LEMMA,
...     title="a product against squares",
...     citation=Citation("own", "an example"),
...     forms=(Form(statement=Le(2 * a * b, a**2 + b**2)),),
...     check=Instances(
...         space=Space({"a": Real(-3, 3), "b": Real(-3, 3)}), realise=lambda point: {a: point["a"], b: point["b"]}
...     ),
... )
>>> claim.forms[0].latex()
'2 a b \\le a^{2} + b^{2}'

========================  =====================================================================================
what                      names
========================  =====================================================================================
statement                 ``Claim Form Kind Citation Assumption Origin``
symbols                   ``scalar family function index Domain Quantity``; shared ones in ``symbols``
expressions               ``EE Norm NormSq Inner Pos Differ Largest Smallest BigO``
instances                 ``Instances Experiments Sweep Sweeps Method Rejected``
their parameters          ``Space Integer Integers Real Choice ratio Params``
values                    ``Env compiled``
own experiments           ``Observation Facts Requirement``
functions in arithmetic   ``Kinked Turned Functions one_based``
========================  =====================================================================================
"""

from __future__ import annotations

from fltheory.bounds import symbols
from fltheory.bounds.algebra import EE, BigO, Differ, Env, Inner, Largest, Norm, NormSq, Pos, Smallest, compiled
from fltheory.bounds.claim import (
    Assumption,
    Citation,
    Claim,
    Experiments,
    Form,
    Instances,
    Kind,
    Method,
    Rejected,
    Sweep,
    Sweeps,
)
from fltheory.bounds.functions import Functions, Kinked, Turned, one_based
from fltheory.bounds.observation import Facts, Observation, Requirement
from fltheory.bounds.quantities import Domain, Quantity, family, function, index, scalar
from fltheory.bounds.space import Choice, Integer, Integers, Params, Real, Space, ratio
from fltheory.problems.problem import Origin

__all__ = [
    "EE",
    "Assumption",
    "BigO",
    "Choice",
    "Citation",
    "Claim",
    "Differ",
    "Domain",
    "Env",
    "Experiments",
    "Facts",
    "Form",
    "Functions",
    "Inner",
    "Instances",
    "Integer",
    "Integers",
    "Kind",
    "Kinked",
    "Largest",
    "Method",
    "Norm",
    "NormSq",
    "Observation",
    "Origin",
    "Params",
    "Pos",
    "Quantity",
    "Real",
    "Rejected",
    "Requirement",
    "Smallest",
    "Space",
    "Sweep",
    "Sweeps",
    "Turned",
    "compiled",
    "family",
    "function",
    "index",
    "one_based",
    "ratio",
    "scalar",
    "symbols",
]
