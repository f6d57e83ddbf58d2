"""Completion in the shell: of commands, and of the ids of claims."""

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("words", "expected"),
    [("fltheory fals", {"falsify"}), ("fltheory check ruan.lemma-a", {f"ruan.lemma-a.{n}" for n in range(1, 5)})],
)
def test_words_are_completed(words: str, expected: set[str]) -> None:
    place = str(len(words.split()) - 1)
    asked = {"_FLTHEORY_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": place}
    start = [sys.executable, "-c", "import sys; sys.argv = ['fltheory']; from fltheory.cli import main; main()"]
    done = subprocess.run(start, env={**os.environ, **asked}, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == expected
    assert done.stderr == ""
