"""A snapshot of every verdict, with what it rests on and how grave a violation is.

Renew it from the ledger of any check of all claims; a quick one does, since searches begin with known counterexamples:

    fltheory check --all --quick --output ledger
    python -m tests.verdicts ledger/ledger.json          print what has changed; exit code 1 if anything has
    python -m tests.verdicts ledger/ledger.json --renew  accept it
"""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent / "data" / "verdicts.txt"


LEDGER = Path(__file__).parents[1] / "docs" / "ledger.md"
"""The ledger of the documentation."""

_CELL = re.compile(
    r"(?:^|<br>)(?:([\w@.\-]+) )?\*\*([A-Z_]+)\*\*(?: (misprint|gap|false)(?= ))?"
    r" ([a-z]+(?: \(float64\))?)(?: \((\S+)\))?"
)
"""Form, verdict, severity, strength and margin."""


def documented() -> Iterator[dict[str, str]]:
    """Yield every form in the ledger of the documentation; margins and reasons as they are printed, or empty."""
    for line in LEDGER.read_text(encoding="utf-8").splitlines():
        cells = line.split(" | ")
        start = re.match(r"\| `([^`]+)` \|", line)
        if start is None or "**" not in cells[2]:
            continue
        reasons = [re.sub(r"^@\S+ ", "", reason) for reason in cells[3].split("<br>")]
        for place, prefix in ((2, "published"), (-1, "")):
            found = _CELL.findall(cells[place])
            for number, (name, verdict, severity, strength, margin) in enumerate(found):
                form = {"id": start[1], "variant": prefix + name, "verdict": verdict, "strength": strength}
                yield {**form, "severity": severity, "margin": margin, "reason": reasons[number] if prefix else ""}


def line(form: Mapping[str, Any]) -> str:
    """Return what is kept of a verdict."""
    words = (form["id"], form["variant"], form["verdict"], form["strength"], form.get("severity", ""))
    return "  ".join(word for word in words if word)


def text(ledger: Mapping[str, Any]) -> str:
    """Return the snapshot of a ledger."""
    return "\n".join(line(form) for entry in ledger["claims"] for form in entry["forms"]) + "\n"


def changes(ledger: Mapping[str, Any]) -> list[str]:
    """Return what is unlike the snapshot."""
    before = FILE.read_text(encoding="utf-8") if FILE.exists() else ""
    pairs = difflib.unified_diff(before.splitlines(), text(ledger).splitlines(), "snapshot", "ledger", n=0, lineterm="")
    return list(pairs)


if __name__ == "__main__":
    from fltheory.validation.ledger import load

    document = load(Path(sys.argv[1]))
    found = changes(document)
    sys.stdout.write("\n".join([*found, "" if found else "no difference\n"]))
    if "--renew" in sys.argv:
        FILE.write_text(text(document), encoding="utf-8")
    elif found:
        raise SystemExit(1)
