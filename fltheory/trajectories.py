"""What comes out of an engine: recorded curves, frozen, with their provenance."""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fltheory import checks
from fltheory.checks import Floats
from fltheory.errors import InvalidParameter, NotApplicable

LEVEL = 0.99
"""Coverage of :attr:`Trajectories.half_width`."""


class Band(NamedTuple):
    """A mean with limits that hold for all rounds at once; for exact curves all three agree."""

    mean: Floats
    low: Floats
    high: Floats
    level: float


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Trajectories:
    """Curves of one experiment, each of shape ``(replicates, rounds + 1)``; round 0 is the start.

    The exact engine returns expectations: one row, ``exact`` set. Curves that were not asked for, or that the
    engine cannot see, are ``None``; :meth:`curve` says why.

    Parameters
    ----------
    distance_sq
        Squared distance to the minimiser.
    gap
        ``f(w) - f_star``.
    gradient_norm_sq
        Squared norm of the objective's gradient.
    loss, accuracy
        Training loss and share of test samples that are right, where no minimiser is known: networks.
    uplink_bits, downlink_bits
        Cumulated communication of all clients.
    consensus_sq
        Mean squared distance of the participants' local models from their mean, at the end of each round.
    average_gap, average_distance_sq
        The same for the averaged iterate.
    personal_gap
        Weighted mean of ``f_i(w_i) - f_i*`` over the clients' own models.
    personal_loss, personal_accuracy
        Weighted means of loss and accuracy of the clients' own models, each on the client's own data.
    nonzeros
        Cumulated non-zero entries sent to the server.
    entropy
        Entropy of the entries sent to the server in each round, in bits per entry.
    models
        The models themselves, shape ``(replicates, rounds + 1, dim)``.
    model_mean, model_covariance
        Moments of the model, shapes ``(1, rounds + 1, dim)`` and ``(1, rounds + 1, dim, dim)``; exact engine only.
    exact
        Whether the curves are expectations without sampling error.
    half_width
        For exact curves averaged over sampled participation: half-widths of their confidence band by name.
    provenance
        Versions, seed, configuration, time.
    """

    algorithm: str
    distance_sq: Floats | None = None
    gap: Floats | None = None
    gradient_norm_sq: Floats | None = None
    loss: Floats | None = None
    accuracy: Floats | None = None
    uplink_bits: Floats
    downlink_bits: Floats
    consensus_sq: Floats | None = None
    average_gap: Floats | None = None
    average_distance_sq: Floats | None = None
    personal_gap: Floats | None = None
    personal_loss: Floats | None = None
    personal_accuracy: Floats | None = None
    nonzeros: Floats | None = None
    entropy: Floats | None = None
    models: Floats | None = None
    model_mean: Floats | None = None
    model_covariance: Floats | None = None
    exact: bool = False
    half_width: Mapping[str, Floats] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.curves():
            frozen = checks.frozen(getattr(self, name))
            if not np.all(np.isfinite(frozen)):
                raise InvalidParameter(f"Trajectories.{name} must be finite")
            object.__setattr__(self, name, frozen)

    @property
    def rounds(self) -> int:
        return int(self.uplink_bits.shape[1]) - 1

    @property
    def replicates(self) -> int:
        return int(self.uplink_bits.shape[0])

    def curves(self) -> list[str]:
        """Return the names of the recorded curves."""
        names = [f.name for f in fields(self) if f.name not in ("algorithm", "exact", "half_width", "provenance")]
        return [name for name in names if getattr(self, name) is not None]

    def curve(self, name: str) -> Floats:
        """Return one recorded curve, or say why it is not there."""
        known = [f.name for f in fields(self) if f.name not in ("algorithm", "exact", "half_width", "provenance")]
        checks.choice("Trajectories", "curve", name, known)
        values: Floats | None = getattr(self, name)
        if values is None:
            raise NotApplicable(
                f"curve {name!r} was not recorded by the {self.provenance.get('engine', 'used')} engine in this run; "
                f"recorded are {', '.join(self.curves())}"
            )
        return values

    def until(self, rounds: int) -> Trajectories:
        """Return the first rounds."""
        checks.integer("Trajectories", "rounds", rounds, low=0, high=self.rounds)
        cut = {name: getattr(self, name)[:, : rounds + 1] for name in self.curves()}
        half = {name: values[..., : rounds + 1] for name, values in self.half_width.items()}
        return replace(self, **cut, half_width=half)

    def band(self, name: str, *, level: float = 0.99) -> Band:
        """Return the mean of a curve with a band that covers all rounds at once.

        Student's interval at every round, at a level that the number of rounds divides (Bonferroni), so the whole
        expected curve lies inside with probability at least ``level`` when replicate means are near normal.
        """
        values = self.curve(name)
        mean = values.mean(axis=0)
        if self.exact and name not in self.half_width:
            return Band(mean, mean, mean, level)
        if self.exact:
            if level > LEVEL:
                raise NotApplicable(
                    f"participation was sampled and the band of {name!r} stored at level {LEVEL:g}, got level={level:g}"
                )
            half = self.half_width[name]
            return Band(mean, mean - half, mean + half, LEVEL)
        half = simultaneous_half_width(values, level)
        return Band(mean, mean - half, mean + half, level)

    def to_dataframe(self) -> Any:
        """Return the curves as a pandas data frame: one row per replicate and round, one column per curve."""
        pandas = _library("pandas")
        names = self._plain_curves()
        replicates, columns = self.uplink_bits.shape
        frame = {
            "replicate": np.repeat(np.arange(replicates), columns),
            "round": np.tile(np.arange(columns), replicates),
        }
        return pandas.DataFrame(frame | {name: self.curve(name).ravel() for name in names})

    def to_xarray(self) -> Any:
        """Return the curves as an xarray data set with the dimensions ``replicate`` and ``round``."""
        xarray = _library("xarray")
        replicates, columns = self.uplink_bits.shape
        return xarray.Dataset(
            {name: (("replicate", "round"), self.curve(name)) for name in self._plain_curves()},
            coords={"replicate": np.arange(replicates), "round": np.arange(columns)},
            attrs={"algorithm": self.algorithm, "exact": int(self.exact)},
        )

    def _plain_curves(self) -> list[str]:
        """Return the names of the curves that have one number per replicate and round."""
        return [name for name in self.curves() if self.curve(name).ndim == 2]

    def save(self, path: Path) -> None:
        """Write the curves to ``.npz`` (no pickle) and the provenance beside them as ``.json``."""
        curves: dict[str, Any] = {name: getattr(self, name) for name in self.curves()}
        np.savez_compressed(_named(path, ".npz"), **curves)
        record = {"algorithm": self.algorithm, "exact": self.exact, "provenance": dict(self.provenance)}
        record["half_width"] = {name: values.tolist() for name, values in self.half_width.items()}
        _named(path, ".json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Trajectories:
        """Read what :meth:`save` wrote."""
        record = json.loads(_named(path, ".json").read_text(encoding="utf-8"))
        with np.load(_named(path, ".npz"), allow_pickle=False) as stored:
            curves = {name: stored[name] for name in stored.files}
        half = {name: np.asarray(values) for name, values in record["half_width"].items()}
        return cls(
            algorithm=record["algorithm"],
            exact=record["exact"],
            half_width=half,
            provenance=record["provenance"],
            **curves,
        )


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise NotApplicable(f"this needs {name}; install it with: pip install {name}") from None


def _named(path: Path, suffix: str) -> Path:
    """Return the path with a suffix; a dot in the name, as in ``prox-0.1``, is not one."""
    stem = path.name.removesuffix(".npz").removesuffix(".json")
    return path.with_name(stem + suffix)


def simultaneous_half_width(values: Floats, level: float) -> Floats:
    """Return Student half-widths over axis 0 that hold for all columns at once with probability ``level``."""
    from scipy.special import stdtrit

    level = checks.real("band", "level", level, low=0, high=1, open_low=True, open_high=True)
    replicates, columns = values.shape
    if replicates < 2:
        raise NotApplicable("a confidence band needs at least 2 replicates; raise replicates, or use the exact engine")
    quantile = float(stdtrit(replicates - 1, 1.0 - (1.0 - level) / (2.0 * columns)))
    # Squares of values beyond 1e154 overflow. Dividing by a power of two changes no digit.
    scale = np.where(np.abs(values).max(axis=0) > 2.0**500, 2.0**600, 1.0)
    with np.errstate(over="ignore"):
        return np.asarray(quantile * (values / scale).std(axis=0, ddof=1) / math.sqrt(replicates) * scale)
