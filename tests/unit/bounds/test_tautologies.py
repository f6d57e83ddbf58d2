"""Formulas do not define a symbol by itself."""

import pytest

from fltheory.bounds import catalogue
from fltheory.bounds.printing import latex

ENTRIES = catalogue.index()


@pytest.mark.parametrize("id_", sorted(ENTRIES))
def test_no_definition_says_that_a_symbol_is_itself(id_):
    for form in ENTRIES[id_].load().forms:
        targets = {latex(target) for target, _ in form.where}
        for part in form.latex().split(r",\quad ")[1:]:
            left, _, right = part.partition(" = ")
            bare = right.replace(r"\left", "").replace(r"\right", "").replace("{", "").replace("}", "")
            assert left not in targets or left.replace("{", "").replace("}", "").split() != bare.split()
