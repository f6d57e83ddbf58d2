"""The proof graph of a paper: which statement rests on which, laid out in layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fltheory.validation.summary import MIXED


@dataclass(frozen=True, slots=True)
class GraphLayout:
    """Places of statements: layers from what is used (0) to what uses it, and positions inside a layer.

    Parameters
    ----------
    layer, position
        By statement.
    edges
        Pairs (statement, statement that its proof uses).
    """

    layer: Mapping[str, int]
    position: Mapping[str, float]
    edges: tuple[tuple[str, str], ...]

    @property
    def layers(self) -> int:
        """Number of layers."""
        return max(self.layer.values(), default=-1) + 1

    @property
    def widest(self) -> int:
        """Statements in the fullest layer."""
        return max((list(self.layer.values()).count(n) for n in set(self.layer.values())), default=0)


def layout(uses: Mapping[str, Sequence[str]], *, widest: int = 8) -> GraphLayout:
    """Lay out the statements that are connected to any other; edges to unknown statements are left out.

    A statement stands above everything its proof uses; inside a layer statements are ordered by the mean position of
    what they use, which keeps most edges from crossing. A layer with more than ``widest`` statements is folded.

    >>> layout({"theorem": ["lemma"], "lemma": []}).layer
    {'lemma': 0, 'theorem': 1}
    """
    edges = [(one, other) for one, used in uses.items() for other in used if other in uses and other != one]
    connected = sorted({node for edge in edges for node in edge})
    depth: dict[str, int] = {}

    def level(node: str, above: tuple[str, ...] = ()) -> int:
        if node in above:  # a circular argument: break it where it closes
            return 0
        if node not in depth:
            below = [level(other, (*above, node)) for one, other in edges if one == node]
            depth[node] = 1 + max(below, default=-1)
        return depth[node]

    for node in connected:
        level(node)
    rows = _folded({n: [node for node in connected if depth[node] == n] for n in sorted(set(depth.values()))}, widest)
    position: dict[str, float] = {}
    layer: dict[str, int] = {}
    for number, row in enumerate(rows):
        ordered = sorted(row, key=lambda node: (_centre(node, edges, position), node))
        for place, node in enumerate(ordered):
            position[node] = place - (len(ordered) - 1) / 2
            layer[node] = number
    return GraphLayout(layer, position, tuple(edges))


def _folded(rows: Mapping[int, list[str]], widest: int) -> list[list[str]]:
    return [row[start : start + widest] for row in rows.values() for start in range(0, len(row), widest)]


def _centre(node: str, edges: Sequence[tuple[str, str]], position: Mapping[str, float]) -> float:
    below = [position[other] for one, other in edges if one == node and other in position]
    return sum(below) / len(below) if below else 0.0


def resting_on_failures(uses: Mapping[str, Sequence[str]], verdicts: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the statements that hold although a step of their published proof fails, with the steps that fail.

    >>> resting_on_failures({"theorem": ["lemma"], "lemma": []}, {"theorem": "HOLDS", "lemma": "VIOLATED"})
    {'theorem': ['lemma']}
    """
    found: dict[str, list[str]] = {}
    for id_ in uses:
        if verdicts.get(id_) == "HOLDS":
            failing = [used for used in _below(id_, uses) if verdicts.get(used) in ("VIOLATED", MIXED)]
            if failing:
                found[id_] = failing
    return found


def _below(id_: str, uses: Mapping[str, Sequence[str]]) -> list[str]:
    """Return everything that a proof rests on, nearest first."""
    seen: dict[str, None] = {}
    queue = list(uses.get(id_, ()))
    while queue:
        used = queue.pop(0)
        if used not in seen and used != id_:
            seen[used] = None
            queue += uses.get(used, ())
    return list(seen)
