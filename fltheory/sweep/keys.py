"""Everything that decides the result of a run, as one digest: what has the same key need not be run again."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from fltheory._internal import provenance
from fltheory._internal.own_code import digest_of
from fltheory.configuration.experiments import Configuration

_DECIDING = ("rounds", "problem", "participation", "record")


def key_of(tables: dict[str, Any], configuration: Configuration, which: int) -> str:
    """Return a digest of everything that decides the result of one algorithm; titles and labels do not."""
    algorithm = {name: value for name, value in tables["algorithm"][which].items() if name != "label"}
    deciding = {
        "tables": {name: tables[name] for name in _DECIDING if name in tables},
        "algorithm": algorithm,
        "data": getattr(configuration.experiments[which][1].problem, "origin", ""),
        "engine": configuration.engine,
        "seed": configuration.seed,
        "replicates": configuration.replicates,
        "code": provenance.code(),
        "packages": dict(provenance.versions(*configuration.experiments[which][1].problem.packages)),
        "own": _own_code(configuration, algorithm, tables["problem"]),
    }
    return hashlib.sha256(json.dumps(deciding, sort_keys=True, default=str).encode()).hexdigest()


def _own_code(configuration: Configuration, *tables: Any) -> list[str]:
    """Return digests of the user's own files that tables refer to."""
    places = (Path(configuration.path).parent, *(Path(folder) for folder in configuration.folders))
    named = [table if isinstance(table, str) else table.get("name", "") for table in tables]
    return [digest_of(name, *places) for name in named if isinstance(name, str) and ":" in name] + [
        hashlib.sha256(file.read_bytes()).hexdigest()
        for folder in configuration.folders
        for file in sorted(Path(folder).glob("*.py"))
    ]
