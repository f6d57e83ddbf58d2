"""The verdicts of ``docs/ledger.md``, read back for the pages of statements."""

import html
import re
from dataclasses import dataclass
from pathlib import Path

LEDGER = Path(__file__).parents[1] / "ledger.md"

LONGEST = 500
"""Characters of a counterexample that a page shows; the ledger has all of it."""

_FORM = re.compile(
    r"(?P<variant>(?:corrected|sharp)?(?:@\S+)?) ?\*\*(?P<decision>\w+)\*\*(?: (?P<severity>misprint|gap|false))?"
    r"(?: (?P<strength>[a-z]+(?: \(float64\))?))?(?: \((?P<margin>[^)]+)\))?(?:: (?P<note>.*))?"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What the ledger says about a form."""

    decision: str
    severity: str
    strength: str
    margin: str
    reason: str

    def in_words(self) -> str:
        """Return a sentence, or two.

        >>> Verdict(decision="HOLDS", severity="", strength="searched", margin="1", reason="").in_words()
        'Holds; searched, margin 1.'
        """
        word = self.decision.replace("_", " ").capitalize()
        kinds = {"misprint": ": a misprint", "gap": ": a gap in a proof", "false": ": false as stated"}
        margin = f"margin {self.margin}" if self.margin else ""
        based = ", ".join(part for part in (self.strength.replace("float64", "in floating point"), margin) if part)
        text = f"{word}{kinds.get(self.severity, '')}{f'; {based}' if based else ''}."
        if not self.reason:
            return text
        said = self.reason if len(self.reason) <= LONGEST else f"{self.reason[:LONGEST].rpartition(' ')[0]} …"
        if self.strength.startswith("refuted") and not said.startswith("measured"):
            return f"{text} Counterexample: {said}"
        return f"{text} {said[0].upper()}{said[1:]}."


def verdicts(path: Path = LEDGER) -> dict[str, dict[str, Verdict]]:
    """Return the verdicts on all forms, by statement and form."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        cells = re.split(r"(?<!\\) \| ", line.removeprefix("| ").removesuffix(" |"))
        name = re.fullmatch(r"`([^`]+)`", cells[0])
        if not name or len(cells) < 5 or "**" not in cells[2]:
            continue
        reasons = [re.sub(r"^@\S+ ", "", _plain(part)) for part in cells[3].split("<br>")]
        published = [
            _form(part, "published", reason) for part, reason in zip(cells[2].split("<br>"), reasons, strict=True)
        ]
        others = [_form(part, "", "") for part in cells[4].split("<br>") if part.strip()]
        found[name[1]] = dict(published + others)
    return found


def _form(text: str, kind: str, reason: str) -> tuple[str, Verdict]:
    match = _FORM.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{LEDGER.name} has a form that cannot be read: {text}")
    known = {name: match[name] or "" for name in ("decision", "severity", "strength", "margin")}
    return f"{kind}{_plain(match['variant'])}", Verdict(**known, reason=reason)


def _plain(text: str) -> str:
    """Return the text of a cell without the marks that let it stand for itself there."""
    return html.unescape(re.sub(r"\\(\W|_)", r"\1", text)).strip()
