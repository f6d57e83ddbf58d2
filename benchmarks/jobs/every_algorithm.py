"""Job A: every algorithm of the catalogue on Job Q's problem, by every step, by default and exactly."""

from __future__ import annotations

import math
from dataclasses import asdict

from benchmarks import sizes
from benchmarks.agreement import disagreement
from benchmarks.options import Options
from benchmarks.report import WRONG, Table, record_of, seconds_text, versions_of
from benchmarks.sizes import SINGLE
from benchmarks.workers import Measured, Tool, interleaved

TITLE = (
    "A  every algorithm on Job Q's problem, d={dim} N={num_clients} K={local_steps} T={rounds}, "
    "{replicates} replicates; in brackets relative to FedAvg"
)
MODES = ("full", "default", "exact")
COLUMNS = ["algorithm", "every step", "default", "exact", "same law", "remark"]


def run(options: Options) -> list[Table]:
    """Measure and return the table."""
    from fltheory.configuration import registry

    size = sizes.quadratic(options.quick)
    names = list(registry.algorithms())
    tools = [
        Tool(
            label=f"{name}/{mode}",
            module="ours.q",
            settings=asdict(size),
            request={"algorithm": name, "mode": mode},
        )
        for name in names
        for mode in MODES
    ]
    measured = interleaved(tools, repetitions=min(options.repetitions, 3), peers_python=options.peers_python)
    found = {entry.tool.label: entry for entry in measured}
    table = Table(title=TITLE.format(**asdict(size)), columns=COLUMNS)
    for name in names:
        entries = {mode: found[f"{name}/{mode}"] for mode in MODES}
        cells = [_cell(entries[mode], found[f"fedavg/{mode}"]) for mode in MODES]
        verdict = _same_law(entries)
        table.rows.append([name, *cells, verdict.split(":")[0], _remark(entries)])
        if verdict.startswith(WRONG):
            table.notes.append(f"{name}: {verdict}")
        table.records += [record_of(entry, verdict=verdict.split(":")[0]) for entry in entries.values()]
    table.notes.append("- : no result; the default runs every step where rounds cannot be drawn at once")
    table.notes.append(versions_of(measured))
    return [table]


def _cell(entry: Measured, fedavg: Measured) -> str:
    if math.isnan(entry.best):
        return "-"
    return f"{seconds_text(entry.best)} ({entry.best / fedavg.best:.1f})"


def _remark(entries: dict[str, Measured]) -> str:
    for entry in entries.values():
        if entry.failure:
            return _shortened(entry.failure)
    if entries["full"].tool.request["algorithm"] in SINGLE:
        return "made for one client: run on one, without client drift"
    note = entries["default"].note
    return _shortened(note.removeprefix("every step run: ")) if note.startswith("every step") else ""


def _shortened(text: str, length: int = 60) -> str:
    return text if len(text) <= length else text[: length - 3] + "..."


def _same_law(entries: dict[str, Measured]) -> str:
    """Compare the default and the exact means with the simulation of every step."""
    if entries["full"].failure:
        return "failed"
    truth = entries["full"].pooled()
    for mode in ("default", "exact"):
        if not entries[mode].failure:
            difference = disagreement(entries[mode].pooled(), truth)
            if difference:
                return f"{WRONG}: {mode}, {difference}"
    return "ok"
