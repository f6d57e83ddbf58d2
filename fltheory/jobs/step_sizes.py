"""Candidate step sizes of one algorithm with what each of them costs, as a table and a figure."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fltheory._internal.arguments import Floats
from fltheory.errors import NotApplicable
from fltheory.quadratic.local_model import LocalModel
from fltheory.simulation.schedules import Constant, Schedule, rates_of
from fltheory.simulation.stability import StabilityLimit
from fltheory.simulation.trajectories import Trajectories, library

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = (
    "step size",
    "rate",
    "server rate",
    "of the limit",
    "gap at the end",
    "rounds to accuracy",
    "unmet assumptions",
)
"""Headings of the table."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class StepSize:
    """One candidate: a local rate, perhaps with a server rate, and what it costs.

    Parameters
    ----------
    name
        Where it comes from: ``stability limit``, ``best constant rate``, the id of a theorem, ...
    kind
        ``limit``, ``constant``, ``server``, ``given`` or ``theorem``.
    rate
        The local rate, as a schedule.
    first, last
        Its values in the first and in the last round of the horizon.
    server_rate
        Server rate, for algorithms that have one.
    share
        ``first`` as a share of the largest stable rate of the same server rate.
    gap
        Expected gap after the last round of the horizon; ``None`` if it diverges.
    rounds_to_accuracy
        First round after which the expected gap is at most the accuracy; ``None`` if none was.
    run
        The run of all rounds that were tried, or as many as stay finite.
    forms
        Forms of the theorem that ask for this rate.
    unmet
        Assumptions of the theorem that the run with this rate does not meet, with what is there instead; those of some
        forms only say of which.
    unchecked
        Forms whose assumptions could not be checked, with the reason.
    """

    name: str
    kind: str
    rate: Schedule
    first: float
    last: float
    server_rate: float | None
    share: float | None
    gap: float | None
    rounds_to_accuracy: int | None
    run: Trajectories | None
    forms: tuple[str, ...] = ()
    unmet: Mapping[str, str] = field(default_factory=dict)
    unchecked: Mapping[str, str] = field(default_factory=dict)

    @property
    def assumptions(self) -> str:
        """The names of the unmet assumptions; ``none``, ``not checked``, or ``-`` for what is no theorem."""
        if self.kind != "theorem":
            return "-"
        if self.forms and len(self.unchecked) == len(self.forms):
            return "not checked"
        return "; ".join(self.unmet) or "none"

    @property
    def diverged(self) -> bool:
        """Whether the run left the range of floating-point numbers."""
        return self.gap is None

    def as_json(self) -> dict[str, Any]:
        """Return plain values; the run is left out."""
        return {
            "name": self.name,
            "kind": self.kind,
            "first_rate": self.first,
            "last_rate": self.last,
            "constant": isinstance(self.rate, Constant),
            "server_rate": self.server_rate,
            "share_of_limit": self.share,
            "gap": self.gap,
            "rounds_to_accuracy": self.rounds_to_accuracy,
            "diverged": self.diverged,
            "forms": list(self.forms),
            "unmet_assumptions": dict(self.unmet),
            "unchecked_forms": dict(self.unchecked),
        }


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class StepSizes:
    """Step sizes of one algorithm; :func:`~fltheory.jobs.tuning.step_sizes` finds them.

    Parameters
    ----------
    label
        Name of the algorithm in table and figure.
    rounds
        The horizon.
    accuracy
        The gap that is to be reached.
    longest
        Rounds after which an accuracy counts as not reached.
    limit
        The largest stable rate; ``None`` if there is none, and ``notes`` says so.
    candidates
        All candidates, in the order in which they were found.
    refused
        Theorems that prescribe a rate but not here, with the reason, by id.
    free
        Theorems on such runs that prescribe no rate.
    method
        How gaps were found: ``exact`` or ``Monte Carlo``.
    local_model
        The quadratic on which all this was found, if it stands for another problem.
    notes
        What a reader should know.
    """

    label: str
    rounds: int
    accuracy: float
    longest: int
    limit: StabilityLimit | Any
    candidates: tuple[StepSize, ...]
    refused: Mapping[str, str]
    free: tuple[str, ...]
    method: str
    local_model: LocalModel | None = None
    notes: tuple[str, ...] = ()

    @property
    def best(self) -> StepSize:
        """The candidate with the smallest gap at the end of the horizon."""
        return min(self.candidates, key=lambda one: math.inf if one.gap is None else one.gap)

    @property
    def fastest(self) -> StepSize | None:
        """The candidate that reaches the accuracy first; ``None`` if none does."""
        reached = [one for one in self.candidates if one.rounds_to_accuracy is not None]
        return min(reached, key=lambda one: (one.rounds_to_accuracy, one.gap)) if reached else None

    def __getitem__(self, name: str) -> StepSize:
        """Return a candidate by name."""
        for one in self.candidates:
            if one.name == name:
                return one
        raise KeyError(f"{name!r}; there are {', '.join(one.name for one in self.candidates)}")

    def __iter__(self) -> Iterator[StepSize]:
        return iter(self.candidates)

    def __len__(self) -> int:
        return len(self.candidates)

    def cells(self) -> list[tuple[str, ...]]:
        """Return the rows of the table as text, in the order of :data:`COLUMNS`."""
        return [
            (
                one.name,
                f"{one.first:.4g}" if one.first == one.last else f"{one.first:.4g} to {one.last:.4g}",
                "-" if one.server_rate is None else f"{one.server_rate:g}",
                "-" if one.share is None else f"{one.share:.3g}",
                "diverges" if one.gap is None else f"{one.gap:.3e}",
                f"> {self.longest}" if one.rounds_to_accuracy is None else str(one.rounds_to_accuracy),
                one.assumptions,
            )
            for one in self.candidates
        ]

    @property
    def heading(self) -> str:
        """One line above the table."""
        return f"{self.label}: {self.rounds} rounds, accuracy {self.accuracy:.3g}, {self.method}" + (
            " (local model)" if self.local_model is not None else ""
        )

    def remarks(self) -> list[str]:
        """Return the lines below the table: the local model, notes, unmet assumptions, theorems without a row."""
        lines = list(self.notes)
        if self.local_model is not None:
            lines.insert(0, f"on a local quadratic model, not on the problem itself: {self.local_model}")
        unmet = [(f"{name} ({value})", one.name) for one in self.candidates for name, value in one.unmet.items()]
        lines += [f"unmet in {', '.join(rows)}: {what}" for what, rows in _gathered(unmet)]
        unchecked = [
            (reason, f"{one.name.split()[0]} {form}")
            for one in self.candidates
            for form, reason in one.unchecked.items()
        ]
        lines += [f"assumptions not checked in {', '.join(rows)}: {reason}" for reason, rows in _gathered(unchecked)]
        refused = [(reason, id_) for id_, reason in self.refused.items()]
        lines += [f"no rate from {', '.join(ids)}: {reason}" for reason, ids in _gathered(refused)]
        return lines

    def __str__(self) -> str:
        rows = [COLUMNS, *self.cells()]
        widths = [max(len(row[place]) for row in rows) for place in range(len(COLUMNS))]
        lines = [
            "  ".join(
                [row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:-1], widths[1:-1], strict=True)), row[-1]]
            )
            for row in rows
        ]
        return "\n".join([self.heading, *(line.rstrip() for line in lines), *self.remarks()])

    def __repr__(self) -> str:
        limit = "none" if self.limit is None else f"{self.limit.rate:.4g}"
        return f"StepSizes({self.label}: largest stable rate {limit}, {len(self.candidates)} candidates)"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(column)}</th>" for column in COLUMNS)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in self.cells()
        )
        below = "".join(f"<p>{html.escape(line)}</p>" for line in self.remarks())
        caption = f"<caption>{html.escape(self.heading)}</caption>"
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"

    def as_json(self) -> dict[str, Any]:
        """Return plain values for a JSON document."""
        limit = None
        if self.limit is not None:
            limit = {
                "rate": self.limit.rate if math.isfinite(self.limit.rate) else None,
                "lowest": self.limit.lowest,
                "method": self.limit.method,
                "reason": self.limit.reason or None,
            }
        model = self.local_model
        return {
            "label": self.label,
            "rounds": self.rounds,
            "accuracy": self.accuracy,
            "longest": self.longest,
            "method": self.method,
            "limit": limit,
            "candidates": [one.as_json() for one in self.candidates],
            "refused": dict(self.refused),
            "free": list(self.free),
            "local_model": None
            if model is None
            else {
                "mu": model.mu,
                "L": model.L,
                "sigma_sq": model.sigma_sq.tolist(),
                "client_drift_sq": model.client_drift_sq,
                "gradient_norm_sq": model.gradient_norm_sq,
            },
            "notes": list(self.notes),
        }

    def to_dataframe(self) -> Any:
        """Return a pandas data frame with one row per candidate."""
        return library("pandas").DataFrame([one.as_json() for one in self.candidates])

    def plot(self, *, title: str | None = None) -> Figure:
        """Return a figure with the gap of every candidate over the horizon.

        Candidates with the same run are one curve; those that diverge are left out.
        """
        from fltheory.figures.comparison import HEIGHT, comparison
        from fltheory.figures.style import COLUMN

        names: dict[int, list[str]] = {}
        for one in self.candidates:
            names.setdefault(id(one.run), []).append(one.name)
        drawn = {id(one.run): one.run for one in self.candidates if one.run is not None}
        if not drawn:
            raise NotApplicable(f"every candidate rate of {self.label} diverges; there is nothing to draw")
        curves = [
            (first + (f" and {len(others)} more" if others else ""), run.until(self.rounds))
            for key, run in drawn.items()
            for first, *others in [names[key]]
        ]
        figure = comparison(curves, quantity="gap", title=title or self.heading)
        # So many entries would hide the curves.
        figure.set_size_inches(2 * COLUMN, HEIGHT)
        legend = figure.axes[0].get_legend()
        assert legend is not None  # comparison makes one
        legend.set_loc("upper left")
        legend.set_bbox_to_anchor((1.02, 1.0))
        return figure


def _gathered(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, list[str]]]:
    """Return what several rows have in common, each once with its rows."""
    found: dict[str, list[str]] = {}
    for what, row in pairs:
        found.setdefault(what, []).append(row)
    return list(found.items())


def first_below(curve: Floats, accuracy: float) -> int | None:
    """Return the first place at which a curve is at most the accuracy.

    >>> first_below([4.0, 2.0, 1.0, 3.0], 1.0), first_below([4.0], 1.0)
    (2, None)
    """
    return next((place for place, value in enumerate(curve) if value <= accuracy), None)


def ends(rate: Schedule, rounds: int, local_steps: int) -> tuple[float, float]:
    """Return the first and the last value of a schedule over a horizon."""
    first: Sequence[float] = rates_of(rate, 0, local_steps)
    last: Sequence[float] = rates_of(rate, rounds - 1, local_steps)
    return float(first[0]), float(last[-1])
