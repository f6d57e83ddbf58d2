"""What a result rests on: the steps of its proof, followed along the proof graph to those that have certificates.

A theorem about trajectories has no certificate of its own. Its proof puts steps together: a recursion for one round, an
induction, what noise and participation add. Each step is a statement with a verdict and a strength, so that the graph
can say more than the search: whether all steps are proved, or certified at stated sizes, and which ones are not.

The words are careful in two ways. A step that is certified is certified at the sizes that its certificate states, so a
result never becomes ``proved`` by its steps. And that the steps give the result is the argument on its page; no
certificate is about it.

* A step counts by its published forms if all of them hold, else by its corrected forms, else by its sharp ones, and
  then by the weakest of these. Published forms that hold by a search or a trend only, while all corrected or all sharp
  forms have certificates, count by those: they are the same statement with constants, or with better ones.
* A law up to constants that was only followed along sweeps (``corrected@rate``, extrapolated) counts by the sharp form
  of the same name, if that has a certificate: it is that law with its constants.
* A result among the steps (a bound, a rate, a rule) that is not certified itself counts by its own steps.
* A step that is searched, open, not checked, or false without a correction is named: the result holds modulo it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fltheory.validation.verdict import Strength

RESULTS = ("bound", "rate", "lower", "rule")
"""Kinds of statements that are results of proofs, not steps of them."""

_CERTAIN = (Strength.PROVED.value, Strength.CERTIFIED.value)


@dataclass(frozen=True, slots=True)
class Step:
    """A statement that a proof rests on.

    Parameters
    ----------
    id
        Which.
    strength
        Weakest strength among the forms that count; empty if one of them does not hold, or was not checked.
    form
        Which forms count: ``published``, ``corrected`` or ``sharp``; empty if the step was not checked.
    refuted
        Whether a published form is violated.
    """

    id: str
    strength: str
    form: str
    refuted: bool

    def words(self) -> str:
        """Return the step with what is known of it."""
        if not self.form:
            return f"{self.id} (not checked)"
        known = self.strength or "open"
        if self.form == "published":
            return f"{self.id} ({'refuted' if self.refuted else known})"
        return f"{self.id} ({'refuted as printed, ' if self.refuted else ''}{self.form} form {known})"


@dataclass(frozen=True, slots=True)
class Rests:
    """What a result rests on: steps with certificates, and steps without."""

    certain: tuple[Step, ...]
    modulo: tuple[Step, ...]

    @property
    def strength(self) -> str:
        """``proved`` or ``certified`` if every step is, with the weaker word; empty otherwise."""
        if self.modulo or not self.certain:
            return ""
        return max((step.strength for step in self.certain), key=_CERTAIN.index)

    def words(self) -> str:
        """Return it in one sentence, or nothing if the page lists no steps."""
        if self.modulo:
            return f"rests on its steps modulo {', '.join(step.words() for step in self.modulo)}"
        if not self.certain:
            return ""
        at = ", at the sizes that they state" if self.strength == Strength.CERTIFIED.value else ""
        parts = [f"rests on {self.strength} steps{at}"]
        mended = [step.id for step in self.certain if step.refuted]
        if mended:
            parts.append(f"refuted as printed, counted by what corrects them: {', '.join(mended)}")
        stronger = [step.id for step in self.certain if step.form != "published" and not step.refuted]
        if stronger:
            parts.append(f"counted by a form with constants: {', '.join(stronger)}")
        return "; ".join(parts)


def rests(id_: str, entries: Mapping[str, Mapping[str, Any]]) -> Rests:
    """Return what a statement rests on, by the verdicts of a ledger.

    >>> lemma = {"kind": "lemma", "uses": [], "forms": [{"variant": "published", "verdict": "HOLDS",
    ...          "strength": "certified"}]}
    >>> theorem = {"kind": "bound", "uses": ["a.lemma"], "forms": []}
    >>> rests("a.theorem", {"a.theorem": theorem, "a.lemma": lemma}).words()
    'rests on certified steps, at the sizes that they state'
    """
    found = list(dict.fromkeys(_steps(id_, entries, {id_})))
    certain = [step for step in found if step.strength in _CERTAIN]
    return Rests(tuple(certain), tuple(step for step in found if step not in certain))


def composed(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a ledger in which every form of a result that holds says what it rests on, and modulo which steps."""
    entries = {entry["id"]: entry for entry in document["claims"]}
    claims = []
    for entry in document["claims"]:
        found = rests(entry["id"], entries) if entry["kind"] in RESULTS else Rests((), ())
        own = {"rests": found.words(), "modulo": [step.id for step in found.modulo]}
        none: dict[str, Any] = {"rests": "", "modulo": []}
        forms = [{**form, **(own if form["verdict"] == "HOLDS" else none)} for form in entry["forms"]]
        claims.append({**entry, "forms": forms})
    return {**document, "claims": claims}


def table(document: Mapping[str, Any]) -> list[str]:
    """Return one line per result that holds, in some form, with what it rests on; none if no page lists steps."""
    rows = []
    for entry in document["claims"]:
        holding = [form for form in entry["forms"] if form.get("rests")]
        if holding:
            names = ", ".join(form["variant"] for form in holding)
            rows.append(f"| `{entry['id']}` | {entry['kind']} | {names} | {holding[0]['rests']} |")
    return ["| result | kind | forms that hold | what its proof rests on |", "|---|---|---|---|", *rows] if rows else []


def totals(document: Mapping[str, Any]) -> dict[str, int]:
    """Return how many results that hold in some form rest on proved steps, on certified ones, modulo some, on none."""
    counted = dict.fromkeys((*_CERTAIN, "modulo", "none"), 0)
    entries = {entry["id"]: entry for entry in document["claims"]}
    for id_, entry in entries.items():
        if entry["kind"] in RESULTS and any(form["verdict"] == "HOLDS" for form in entry["forms"]):
            found = rests(id_, entries)
            counted[found.strength or ("modulo" if found.modulo else "none")] += 1
    return counted


def _steps(id_: str, entries: Mapping[str, Mapping[str, Any]], seen: set[str]) -> Iterator[Step]:
    """Yield the steps of a proof, results among them replaced by their own steps unless they have certificates."""
    for used in entries[id_]["uses"] if id_ in entries else ():
        step = _step(used, entries.get(used))
        result = used in entries and entries[used]["kind"] in RESULTS and entries[used]["uses"]
        if result and step.strength and step.strength not in _CERTAIN:
            if used not in seen:
                seen.add(used)
                yield from _steps(used, entries, seen)
        else:
            yield step


def _step(id_: str, entry: Mapping[str, Any] | None) -> Step:
    if entry is None:
        return Step(id_, "", "", False)
    groups = {word: _group(entry, word) for word in ("published", "corrected", "sharp")}
    groups["corrected"] = [_with_constants(form, groups["sharp"]) for form in groups["corrected"]]
    refuted = any(form["verdict"] == "VIOLATED" for form in groups["published"])
    strengths = {word: _weakest(forms) for word, forms in groups.items() if forms}
    holds = all(form["verdict"] == "HOLDS" for form in groups["published"])
    usual = "published" if holds else next((word for word in ("corrected", "sharp") if word in strengths), "published")
    certain = next((word for word in (usual, "corrected", "sharp") if strengths.get(word) in _CERTAIN), usual)
    chosen = certain if usual == "published" and holds else usual
    return Step(id_, strengths.get(chosen, ""), chosen, refuted)


def _group(entry: Mapping[str, Any], word: str) -> list[Mapping[str, Any]]:
    """Return the published, corrected or sharp forms, without those that apply to no instance."""
    forms = [form for form in entry["forms"] if form["verdict"] != "NOT_APPLICABLE"]
    return [form for form in forms if form["variant"].startswith(word)]


def _with_constants(form: Mapping[str, Any], sharp: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the sharp form of the same name with a certificate, if a form only holds by a trend; the form if not."""
    if form["verdict"] != "HOLDS" or form.get("strength") != Strength.EXTRAPOLATED.value:
        return form
    name = form["variant"].removeprefix("corrected")
    same = [one for one in sharp if one["variant"] == f"sharp{name}" and one["verdict"] == "HOLDS"]
    return next((one for one in same if one.get("strength") in _CERTAIN), form)


def _weakest(forms: Sequence[Mapping[str, Any]]) -> str:
    """Return the weakest strength of forms; empty if one of them does not hold."""
    words = [form.get("strength", "") if form["verdict"] == "HOLDS" else "" for form in forms]
    if "" in words:
        return ""
    weak = next((word for word in words if word not in _CERTAIN), None)
    return max(words, key=_CERTAIN.index) if weak is None else weak
