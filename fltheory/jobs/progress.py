"""How a long job tells what it is doing, without knowing where that is shown."""

from __future__ import annotations

from typing import Protocol

from fltheory.validation.verdict import Checked


class Progress(Protocol):
    """What a job tells about the parts of its work."""

    def expect(self, parts: int) -> None:
        """Take note of how many parts there are."""
        ...

    def begin(self, label: str) -> None:
        """Take note that a part begins."""
        ...

    def end(self, result: str) -> None:
        """Take note that the part is over."""
        ...


class Silent:
    """Progress that is not shown."""

    def expect(self, parts: int) -> None:
        """Say nothing."""

    def begin(self, label: str) -> None:
        """Say nothing."""

    def end(self, result: str) -> None:
        """Say nothing."""


def tell_checked(progress: Progress, checked: Checked) -> None:
    """Report on a claim that has been checked."""
    progress.begin(checked.entry.id)
    progress.end(checked.error or ", ".join(f"{v.variant} {v.decision.value}" for v in checked.verdicts))
