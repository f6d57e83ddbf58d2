"""Certificates: what was proved of which form, by which means, with all that is needed to check it again.

A certificate does not contain the problem. The polynomial problems are derived from the statement whenever a
certificate is replayed, and every stored part is compared with its problem. So an edited file, or an edited statement,
proves nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sympy as sp

from fltheory._internal import shapes
from fltheory._internal.files import read_json, write_json
from fltheory.bounds.claim import Assumption, Check, Claim, Form
from fltheory.errors import InvalidParameter
from fltheory.validation.verdict import Strength

FORMAT = "fltheory-certificate-1"

_PART = {
    "digest": str,
    "terms": shapes.Optional(list),
    "contradiction": shapes.Optional(bool),
    "halves": shapes.Optional([dict]),
    "weights": shapes.Optional([list]),
    "solvers": shapes.Optional(shapes.Values(str)),
    "text": shapes.Optional(str),
}
SHAPE = {
    **dict.fromkeys(("id", "variant", "statement", "prover", "words"), str),
    "strength": shapes.OneOf((Strength.PROVED.value, Strength.CERTIFIED.value)),
    "scope": [dict],
    "parts": [[_PART]],
}
"""What a stored certificate looks like."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Hypotheses:
    """What a form may be proved from: its assumptions, and the instances of its check.

    Declared domains of its quantities, and its premises, are part of the form.
    """

    assumptions: tuple[Assumption, ...]
    check: Check = field(repr=False)

    @classmethod
    def of(cls, claim: Claim, form: Form) -> Hypotheses:
        """Return what a form of a claim may be proved from."""
        return cls(assumptions=claim.assumptions_of(form), check=claim.check_of(form))


@dataclass(frozen=True, kw_only=True, slots=True)
class Certificate:
    """A proof of one form.

    Parameters
    ----------
    id, variant
        Which form of which claim.
    statement
        Digest of the form with its assumptions and declarations; a certificate of another statement is worth nothing.
    prover
        Which translation it is about.
    strength
        Proved, or certified at stated sizes.
    scope
        Sizes and discrete parameters, one entry per case; a single empty one if it is about all values.
    words
        What it covers, for readers.
    parts
        For every entry of the scope, one per polynomial problem: products of hypotheses, or the text for a solver.
    """

    id: str
    variant: str
    statement: str
    prover: str
    strength: Strength
    scope: Sequence[Mapping[str, Any]]
    words: str
    parts: Sequence[Sequence[Mapping[str, Any]]]

    def as_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        made = {name: getattr(self, name) for name in self.__slots__}
        return {"format": FORMAT, **made, "strength": self.strength.value}

    @property
    def method(self) -> str:
        """By which means, in a few words."""
        solvers = sorted({name for several in self.parts for part in several for name in part.get("solvers", {})})
        products = any("terms" in part or "halves" in part for several in self.parts for part in several)
        squares = any("weights" in part for several in self.parts for part in several)
        words = [
            *(["products of hypotheses"] if products else []),
            *(["a semidefinite program"] if squares else []),
            *solvers,
        ]
        return " and ".join(words) or "identity"


def save(certificate: Certificate, path: Path) -> None:
    """Write a certificate."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, certificate.as_json())


def load(path: Path) -> Certificate:
    """Read a certificate, or say which field of the file is wrong."""
    document = read_json(path)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InvalidParameter(f"{path}: is not a certificate; make one with: fltheory check ID --prove")
    shapes.check(document, SHAPE, str(path))
    fields = {name: document[name] for name in Certificate.__slots__}
    return Certificate(**{**fields, "strength": Strength(document["strength"])})


def is_certificate(path: Path) -> bool:
    """Return whether a file says that it is a certificate."""
    document = read_json(path)
    return isinstance(document, dict) and document.get("format") == FORMAT


def file_of(id_: str, variant: str) -> str:
    """Return the name of the file with the certificate of a form."""
    return f"{id_}@{variant}.json"


def statement_digest(form: Form, hypotheses: Hypotheses) -> str:
    """Return a digest of all that a form says: relations, definitions, ranges, premises, assumptions, declarations."""
    parts = [
        *(sp.srepr(relation) for relation in form.relations),
        "premises",
        *(sp.srepr(premise) for premise in form.premises),
        "where",
        *(f"{sp.srepr(target)} := {sp.srepr(sp.sympify(value))}" for target, value in form.where),
        "over",
        *(sp.srepr(sp.sympify(part)) for limits in form.over for part in limits),
        "assumptions",
        *(sp.srepr(a.relation) for a in hypotheses.assumptions),
        *(sp.srepr(sp.sympify(part)) for a in hypotheses.assumptions for limits in a.over for part in limits),
        "declarations",
        *sorted(f"{q.name} {q.domain.value} {q.random} {q.first} {q.role.value}" for q in form.quantities()),
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:24]
