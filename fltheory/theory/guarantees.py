"""What the theorems of the catalogue say about one experiment: a table sorted by tightness, and a figure."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fltheory.simulation.trajectories import Trajectories, library
from fltheory.theory.guarantee import PRESCRIBED, Guarantee, Inapplicable
from fltheory.theory.standing import Standing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = ("theorem", "rate", "what is bounded", "bound", "exact", "bound/exact", "gap at most", "rounds needed")
"""Columns of the table."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class Guarantees:
    """The answer to "which theorem is best here?".

    Parameters
    ----------
    label
        What was run.
    rounds
        Its rounds.
    accuracy
        Gap that is to be reached.
    guarantees
        All forms whose assumptions hold, the tightest bound first; see :attr:`ranked` for those that count.
    inapplicable
        Forms whose assumptions do not hold, or whose setting is another one.
    errors
        Forms that could not be evaluated: why, by name.
    run
        The experiment's own run, the reference.
    """

    label: str
    rounds: int
    accuracy: float | None
    guarantees: tuple[Guarantee, ...]
    inapplicable: tuple[Inapplicable, ...]
    errors: Mapping[str, str]
    run: Trajectories | None = field(repr=False)

    def of(self, *standings: Standing) -> tuple[Guarantee, ...]:
        """Return the forms of some standing, the tightest first."""
        return tuple(one for one in self.guarantees if one.standing in standings)

    @property
    def ranked(self) -> tuple[Guarantee, ...]:
        """Valid bounds, the tightest first."""
        return self.of(Standing.BOUND)

    @property
    def rates(self) -> tuple[Guarantee, ...]:
        """Laws up to constants, evaluated with the constant 1."""
        return self.of(Standing.RATE)

    @property
    def tightest(self) -> Guarantee | Any:
        """The valid bound that comes closest to what it bounds."""
        return self.ranked[0] if self.ranked else None

    @property
    def smallest(self) -> Guarantee | Any:
        """The valid bound that guarantees the smallest gap after the last round."""
        known = [one for one in self.ranked if one.gap_bound is not None]
        return min(known, key=lambda one: one.gap_bound or 0.0) if known else None

    def __getitem__(self, name: str) -> Guarantee:
        """Return the tightest evaluation of an id, or of an id and form such as ``li.theorem-1 (sharp)``."""
        for one in self.guarantees:
            if name in (one.id, one.name, *(f"{one.id} ({variant})" for variant in one.variants)):
                return one
        raise KeyError(f"{name!r}; there are {', '.join(dict.fromkeys(one.name for one in self.guarantees))}")

    def __iter__(self) -> Iterator[Guarantee]:
        return iter(self.guarantees)

    def __len__(self) -> int:
        return len(self.guarantees)

    def cells(self, rows: Iterable[Guarantee]) -> list[tuple[str, ...]]:
        """Return rows as text, in the order of :data:`COLUMNS`."""
        return [
            (
                one.name,
                one.rate_in_words + (f", {one.algorithm}" if one.algorithm != self.label_algorithm else ""),
                one.quantity,
                f"{one.bound:.2e}",
                f"{one.exact:.2e}",
                f"{one.tightness:.3g}",
                "-" if one.gap_bound is None else f"{one.gap_bound:.2e}",
                self._reached(one),
            )
            for one in rows
        ]

    @property
    def label_algorithm(self) -> str:
        """The algorithm of the experiment."""
        return "" if self.run is None else self.run.algorithm

    def _reached(self, one: Guarantee) -> str:
        if one.gap_curve is None:
            return "-"
        proven, seen = (
            f"> {self.rounds}" if value is None else str(value)
            for value in (one.rounds_to_accuracy, one.exact_rounds_to_accuracy)
        )
        return f"{proven} (run: {seen})"

    @property
    def heading(self) -> str:
        """One line above the table."""
        method = "diverges at the given rate" if self.run is None else self.run.method
        goal = "" if self.accuracy is None else f", accuracy {self.accuracy:.3g}"
        return f"{self.label}: {self.rounds} rounds{goal}, {method}"

    def sections(self) -> list[tuple[str, tuple[Guarantee, ...]]]:
        """Return the parts of the table with their headings; parts without rows are left out."""
        parts = [
            ("valid bounds, the tightest first", self.ranked),
            ("rates: the constants inside O() are not stated and taken as 1, so these are no guarantees", self.rates),
            ("bounds from below", self.of(Standing.LOWER)),
            ("not guarantees: refuted forms, and bounds that this run exceeds", self.failed),
        ]
        return [(heading, rows) for heading, rows in parts if rows]

    @property
    def failed(self) -> tuple[Guarantee, ...]:
        """Forms to which a counterexample is known, and forms that the run itself exceeds."""
        return self.of(Standing.REFUTED, Standing.EXCEEDED)

    def remarks(self) -> list[str]:
        """Return the lines below the table: what is refuted, what does not apply and why, what went wrong."""
        lines = []
        if not self.ranked:
            lines.append("no bound of the catalogue applies to this experiment at any of the rates")
        evidence = [(f"{one.standing.value}: {one.evidence}", one.name) for one in self.failed]
        lines += [f"{what}: {', '.join(dict.fromkeys(names))}" for what, names in gathered(evidence)]
        lines += [f"not evaluated: {name}: {reason.splitlines()[0]}" for name, reason in self.errors.items()]
        lines += [f"does not apply: {', '.join(names)}: {why}" for why, names in self.refusals()]
        return lines

    def refusals(self) -> list[tuple[str, list[str]]]:
        """Return why forms apply at no rate, each reason once with its forms; at their own rate if they have one."""
        applied = {(one.id, variant) for one in self.guarantees for variant in one.variants}
        closest: dict[tuple[str, str], Inapplicable] = {}
        for one in self.inapplicable:
            key = (one.id, one.variant)
            # That another rate is asked for tells less than what is wrong at that rate.
            if key not in applied and (key not in closest or one.setting == PRESCRIBED):
                closest[key] = one
        by_reason = gathered((one.why, key) for key, one in closest.items())
        all_forms = gathered((id_, variant) for id_, variant in closest)
        count = {id_: len(variants) for id_, variants in all_forms}
        found = []
        for why, keys in by_reason:
            names = [
                id_
                if len(variants) == count[id_] and id_ not in {a for a, _ in applied}
                else f"{id_} ({'; '.join(variants)})"
                for id_, variants in gathered(keys)
            ]
            found.append((why, names))
        return found

    def __str__(self) -> str:
        lines = [self.heading]
        sections = [(heading, [COLUMNS, *self.cells(rows)]) for heading, rows in self.sections()]
        widths = [
            max((len(row[place]) for _, rows in sections for row in rows), default=0) for place in range(len(COLUMNS))
        ]
        for heading, rows in sections:
            lines += ["", heading]
            lines += [
                "  ".join(cell.ljust(wide) for cell, wide in zip(row, widths, strict=True)).rstrip() for row in rows
            ]
        return "\n".join([*lines, "", *self.remarks()]).rstrip()

    def __repr__(self) -> str:
        best = "no bound applies" if self.tightest is None else f"tightest {self.tightest.name}"
        return f"Guarantees({self.label}: {len(self.ranked)} bounds, {best})"

    def _repr_html_(self) -> str:
        parts = []
        for heading, rows in self.sections():
            head = "".join(f"<th>{html.escape(column)}</th>" for column in COLUMNS)
            body = "".join(
                "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in self.cells(rows)
            )
            caption = f"<caption>{html.escape(heading)}</caption>"
            parts.append(f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
        below = "".join(f"<p>{html.escape(line)}</p>" for line in self.remarks())
        return f"<div><p>{html.escape(self.heading)}</p>{''.join(parts)}{below}</div>"

    def as_json(self) -> dict[str, Any]:
        """Return plain values for a JSON document."""
        tightest, smallest = self.tightest, self.smallest
        return {
            "label": self.label,
            "rounds": self.rounds,
            "accuracy": self.accuracy,
            "method": None if self.run is None else self.run.method,
            "tightest": None if tightest is None else tightest.name,
            "smallest": None if smallest is None else smallest.name,
            "guarantees": [one.as_json() for one in self.guarantees],
            "inapplicable": [
                {
                    "id": one.id,
                    "variant": one.variant,
                    "setting": one.setting,
                    "reasons": [{"name": name, "value": value} for name, value in one.reasons],
                }
                for one in self.inapplicable
            ],
            "errors": dict(self.errors),
        }

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the numbers of the table by name, one entry per row; text has no commas."""
        rows = self.guarantees
        return {
            "id": [one.id for one in rows],
            "forms": [" ".join(one.variants) for one in rows],
            "setting": [one.setting for one in rows],
            "standing": [one.standing.value for one in rows],
            "first_rate": [one.rates[0] for one in rows],
            "last_rate": [one.rates[1] for one in rows],
            "bound": [one.bound for one in rows],
            "exact": [one.exact for one in rows],
            "tightness": [one.tightness for one in rows],
            "gap_bound": [math.nan if one.gap_bound is None else one.gap_bound for one in rows],
        }

    def to_dataframe(self) -> Any:
        """Return a pandas data frame with one row per form and rate."""
        frame = [
            {name: value for name, value in one.as_json().items() if name != "assumptions"} for one in self.guarantees
        ]
        return library("pandas").DataFrame(frame)

    def plot(self, *, title: str | None = None) -> Figure:
        """Return a figure: how tight every bound is, and the bounds on the gap beside the run."""
        from fltheory.figures.guarantees import guarantees

        return guarantees(self, title=title)


def gathered(pairs: Iterable[tuple[str, Any]]) -> list[tuple[str, list[Any]]]:
    """Return what several entries have in common, each once with its entries.

    >>> gathered([("a", 1), ("b", 2), ("a", 3)])
    [('a', [1, 3]), ('b', [2])]
    """
    found: dict[str, list[Any]] = {}
    for what, entry in pairs:
        found.setdefault(what, []).append(entry)
    return list(found.items())
