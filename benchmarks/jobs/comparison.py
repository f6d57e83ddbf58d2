"""Tools that do the same job, timed in turns, compared by their statistics, reported as ratios."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.agreement import Estimate, disagreement
from benchmarks.report import WRONG, Table, ratio_text, record_of, requirement, seconds_text, versions_of
from benchmarks.workers import Measured


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """A tool that others are compared with, and the ratios required of them by label."""

    label: str
    column: str
    required: Mapping[str, float] = field(default_factory=dict)


def comparison(
    title: str,
    measured: Sequence[Measured],
    truths: Mapping[str, Mapping[str, Estimate]],
    baselines: Sequence[Baseline],
    *,
    quick: bool,
    nearly: Mapping[str, float] | None = None,
) -> Table:
    """Return the table of one job.

    ``truths`` holds what each label's statistics have to be, ``nearly`` further relative differences allowed. The
    required ratios are for full sizes, so ``quick`` runs are not held against them.
    """
    columns = ["tool", "seconds"]
    for baseline in baselines:
        columns += [f"vs {baseline.column}", "required"] if baseline.required else [f"vs {baseline.column}"]
    table = Table(title=title, columns=[*columns, "same job", "import s", "set-up s"])
    by_label = {entry.tool.label: entry for entry in measured}
    for entry in measured:
        label = entry.tool.label
        ratios = {b.column: by_label[b.label].best / entry.best for b in baselines}
        verdict = _verdict(entry, truths.get(label), (nearly or {}).get(label, 0.0))
        row = [label, seconds_text(entry.best)]
        for baseline in baselines:
            ratio = ratios[baseline.column]
            row.append(ratio_text(ratio))
            if baseline.required:
                row.append(requirement(ratio, baseline.required.get(label), quick=quick))
        row += [verdict.split(":")[0], seconds_text(entry.import_seconds), seconds_text(entry.prepare_seconds)]
        table.rows.append(row)
        if verdict.startswith(WRONG):
            table.notes.append(f"{label}: {verdict}")
        for remark in (entry.failure, entry.note):
            if remark:
                table.notes.append(f"{label}: {remark}")
        finite = {name: value for name, value in ratios.items() if not math.isnan(value)}
        table.records.append(record_of(entry, ratios=finite, verdict=verdict.split(":")[0]))
    if quick:
        table.notes.append("quick size: start-up costs dominate, ratios are not those of the full job")
    table.notes.append(versions_of(measured))
    return table


def _verdict(entry: Measured, truth: Mapping[str, Estimate] | None, spread: float) -> str:
    if entry.failure:
        return "not installed" if entry.failure.startswith("not installed") else "failed"
    if truth is None:
        return "not compared"
    difference = disagreement(entry.pooled(), truth, spread)
    return f"{WRONG}: {difference}" if difference else "ok"
