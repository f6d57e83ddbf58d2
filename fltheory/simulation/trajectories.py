"""What comes out of an engine: recorded curves, frozen, with their provenance."""

from __future__ import annotations

import html
import importlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fltheory._internal import arguments, files, shapes
from fltheory._internal.arguments import Floats
from fltheory._internal.array_files import read_arrays
from fltheory.errors import InvalidParameter, NotApplicable, NotRecorded

_ABOUT = ("algorithm", "exact", "conditional", "provenance")
"""Fields that are not curves."""

_RECORD = {"algorithm": str, "exact": bool, "conditional": bool, "provenance": dict}
"""Shape of what stands beside the curves."""


DIMENSIONS: Mapping[str, tuple[str, ...]] = {
    "models": ("coordinate",),
    "gradient_sq": ("client", "step"),
    "local_models": ("client", "coordinate"),
    "mean_iterate": ("step", "coordinate"),
    "mean_iterate_gap": ("step",),
    "mean_iterate_distance_sq": ("step",),
    "mean_iterate_loss": ("step",),
    "model_mean": ("coordinate",),
    "model_covariance": ("coordinate", "other_coordinate"),
}
"""What the axes of a curve stand for after ``replicate`` and ``round``; curves that are not listed have no more."""


def _dimensions(curve: str) -> tuple[str, ...]:
    return ("replicate", "round", *DIMENSIONS.get(curve, ()))


Curve = Floats | Any
"""Type of a curve: an array, or ``None`` where it was not recorded.

Most runs record most curves, so type checkers let ``run.gap[0]`` pass without asking whether it is ``None``, and still
see an array where it is one.
"""


class Band(NamedTuple):
    """A mean with limits that hold for all rounds at once; for exact curves all three agree.

    Parameters
    ----------
    mean
        Mean over the replicates, one entry per round.
    low, high
        Ends of the band.
    level
        Probability with which the whole expected curve lies inside.
    """

    mean: Floats
    low: Floats
    high: Floats
    level: float


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class Trajectories:
    r"""Curves of one experiment, each of shape ``(replicates, rounds + 1)``; round 0 is the start.

    The exact engine returns expectations: one row, ``exact`` set. Where it had to sample participation, every row is an
    expectation given one sample, ``exact`` is not set, and :meth:`band` has the interval. Curves that were not asked
    for, or that the engine cannot see, are ``None``; :meth:`curve` says why.

    Parameters
    ----------
    algorithm
        Title of the algorithm.
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
    gradient_sq
        Squared norms of the stochastic gradients of every client in every local step, shape
        ``(replicates, rounds + 1, clients, local_steps)``; the largest where a step has several, 0 for a client that
        does not take the step, and at the start. ``gradient_sq.mean(axis=0).max()`` is the :math:`G^2` of the run.
    local_models
        The clients' models at the end of every round, shape ``(replicates, rounds + 1, clients, dim)``; at the start,
        the model.
    mean_iterate
        The mean iterate :math:`\bar w_{t,k}` after local step ``k + 1`` of the round that ends with model ``t``
        (:mod:`fltheory.simulation.watching`), shape ``(replicates, rounds + 1, local_steps, dim)``; at the start, the
        model. Joined along the second axis from ``1`` on, it is the virtual sequence of proofs about local SGD.
    mean_iterate_gap, mean_iterate_distance_sq, mean_iterate_loss
        How good the mean iterates are, shape ``(replicates, rounds + 1, local_steps)``.
    model_mean, model_covariance
        Moments of the model, shapes ``(1, rounds + 1, dim)`` and ``(1, rounds + 1, dim, dim)``; exact engine only.
    exact
        Whether the curves are expectations without sampling error.
    conditional
        Whether a row is an expectation given who took part, which was sampled (Rao and Blackwell).
    provenance
        Versions, seed, configuration, time.
    """

    algorithm: str
    distance_sq: Curve = None
    gap: Curve = None
    gradient_norm_sq: Curve = None
    loss: Curve = None
    accuracy: Curve = None
    uplink_bits: Floats
    downlink_bits: Floats
    consensus_sq: Curve = None
    average_gap: Curve = None
    average_distance_sq: Curve = None
    personal_gap: Curve = None
    personal_loss: Curve = None
    personal_accuracy: Curve = None
    nonzeros: Curve = None
    entropy: Curve = None
    models: Curve = None
    gradient_sq: Curve = None
    local_models: Curve = None
    mean_iterate: Curve = None
    mean_iterate_gap: Curve = None
    mean_iterate_distance_sq: Curve = None
    mean_iterate_loss: Curve = None
    model_mean: Curve = None
    model_covariance: Curve = None
    exact: bool = False
    conditional: bool = False
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.curves():
            frozen = arguments.frozen(getattr(self, name))
            if not np.all(np.isfinite(frozen)):
                raise InvalidParameter(f"Trajectories.{name} must be finite")
            object.__setattr__(self, name, frozen)

    @property
    def method(self) -> str:
        """How the numbers were found: ``exact``, ``Rao-Blackwell`` or ``Monte Carlo``."""
        if self.exact:
            return "exact"
        return "Rao-Blackwell" if self.conditional else "Monte Carlo"

    @property
    def rounds(self) -> int:
        """Number of rounds; curves have one entry more."""
        return int(self.uplink_bits.shape[1]) - 1

    @property
    def replicates(self) -> int:
        """Number of rows of every curve; 1 for exact expectations."""
        return int(self.uplink_bits.shape[0])

    def curves(self) -> list[str]:
        """Return the names of the recorded curves."""
        names = [f.name for f in fields(self) if f.name not in _ABOUT]
        return [name for name in names if getattr(self, name) is not None]

    def curve(self, name: str) -> Floats:
        """Return one recorded curve, or raise an error that says why it is not there.

        Parameters
        ----------
        name
            Name of the curve, such as ``gap``; :meth:`curves` lists them.
        """
        known = [f.name for f in fields(self) if f.name not in _ABOUT]
        arguments.choice("Trajectories", "curve", name, known)
        values: Floats | None = getattr(self, name)
        if values is None:
            raise NotRecorded(
                f"curve {name!r} was not recorded by the {self.provenance.get('engine', 'used')} engine in this run; "
                f"recorded are {', '.join(self.curves())}"
            )
        return values

    def until(self, rounds: int) -> Trajectories:
        """Return the same curves, cut off after some rounds.

        Parameters
        ----------
        rounds
            Number of rounds to keep.
        """
        arguments.integer("Trajectories", "rounds", rounds, low=0, high=self.rounds)
        cut = {name: getattr(self, name)[:, : rounds + 1] for name in self.curves()}
        return replace(self, **cut)

    def band(self, name: str, *, level: float = 0.99) -> Band:
        """Return the mean of a curve with a band that covers all rounds at once.

        This is Student's interval in every round, at a level that is divided by the number of rounds (Bonferroni). So
        the whole expected curve lies inside with probability at least ``level`` if replicate means are nearly normal.

        Parameters
        ----------
        name
            Name of a curve with one number per replicate and round.
        level
            Probability that the band covers the expected curve.
        """
        level = arguments.real("band", "level", level, low=0, high=1, open_low=True, open_high=True)
        values = self.curve(name)
        mean = values.mean(axis=0)
        if self.exact:
            return Band(mean, mean, mean, level)
        half = simultaneous_half_width(values, level)
        return Band(mean, mean - half, mean + half, level)

    def columns(self) -> dict[str, Floats]:
        """Return the expected curves by name, one entry per round, with the ends of their bands where sampled."""
        found: dict[str, Floats] = {"round": np.arange(self.rounds + 1.0)}
        for name in self._plain_curves():
            found[name] = self.curve(name).mean(axis=0)
            if not self.exact and self.replicates > 1:
                band = self.band(name)
                found |= {f"{name}_low": band.low, f"{name}_high": band.high}
        return found

    def to_dataframe(self, curve: str | None = None) -> Any:
        """Return curves as a pandas data frame.

        Without an argument, all curves that have one number per replicate and round: one row per replicate and round,
        one column per curve. With the name of a curve, that curve alone, one row per number, with a column for each of
        its dimensions (see :data:`DIMENSIONS`).

        Parameters
        ----------
        curve
            Name of a single curve.
        """
        pandas = library("pandas")
        names = self._plain_curves() if curve is None else [curve]
        shape = self.curve(names[0]).shape
        places = np.indices(shape).reshape(len(shape), -1)
        frame = dict(zip(_dimensions(names[0]), places, strict=True))
        return pandas.DataFrame(frame | {name: self.curve(name).ravel() for name in names})

    def to_xarray(self) -> Any:
        """Return the curves as an xarray data set with the dimensions of :data:`DIMENSIONS`."""
        xarray = library("xarray")
        sizes = {
            dimension: size
            for name in self.curves()
            for dimension, size in zip(_dimensions(name), self.curve(name).shape, strict=True)
        }
        return xarray.Dataset(
            {name: (_dimensions(name), self.curve(name)) for name in self.curves()},
            coords={dimension: np.arange(size) for dimension, size in sizes.items()},
            attrs={"algorithm": self.algorithm, "exact": int(self.exact)},
        )

    def _plain_curves(self) -> list[str]:
        """Return the names of the curves that have one number per replicate and round."""
        return [name for name in self.curves() if name not in DIMENSIONS]

    def __repr__(self) -> str:
        main = next(name for name in ("gap", "loss", *self._plain_curves()) if name in self.curves())
        start, end = (float(value) for value in self.curve(main).mean(axis=0)[[0, -1]])
        rows = "" if self.exact else f", {self.replicates} replicates"
        return (
            f"<Trajectories of {self.algorithm}: {self.method}{rows}, {self.rounds} rounds, "
            f"{main} {start:.4g} to {end:.4g}, {len(self.curves())} curves>"
        )

    def _repr_html_(self) -> str:
        """Return a table of the curves for a notebook: first and last value, and the band of the last one."""
        rows = []
        for name in self._plain_curves():
            mean = self.curve(name).mean(axis=0)
            limits = ""
            if not self.exact and self.replicates > 1:
                band = self.band(name)
                limits = f"{band.low[-1]:.4g} to {band.high[-1]:.4g}"
            rows.append(f"<tr><td>{name}</td><td>{mean[0]:.4g}</td><td>{mean[-1]:.4g}</td><td>{limits}</td></tr>")
        others = [f"{name} {self.curve(name).shape}" for name in self.curves() if name in DIMENSIONS]
        more = f"<p>also {html.escape(', '.join(others))}</p>" if others else ""
        heading = f"{html.escape(self.algorithm)}: {self.method}, {self.replicates} x {self.rounds} rounds"
        return (
            f"<table><caption>{heading}</caption><thead><tr><th>curve</th><th>start</th><th>end</th>"
            f"<th>99 % band of the end</th></tr></thead><tbody>{''.join(rows)}</tbody></table>{more}"
        )

    def save(self, path: Path) -> None:
        """Write the curves to ``.npz`` (no pickle) and the provenance beside them as ``.json``.

        Parameters
        ----------
        path
            Path of both files, without their endings.
        """
        curves: dict[str, Any] = {name: getattr(self, name) for name in self.curves()}
        with files.opened(_named(path, ".npz")) as file:
            np.savez_compressed(file, **curves)
        record = {"algorithm": self.algorithm, "exact": self.exact, "conditional": self.conditional}
        record["provenance"] = dict(self.provenance)
        files.write_json(_named(path, ".json"), record)

    @classmethod
    def load(cls, path: Path) -> Trajectories:
        """Return the curves that :meth:`save` wrote.

        Parameters
        ----------
        path
            Path of both files, without their endings.
        """
        place = _named(path, ".json")
        record = files.read_json(place)
        shapes.check(record, _RECORD, str(place))
        curves: dict[str, Any] = read_arrays(_named(path, ".npz"))
        known = {one.name for one in fields(cls)} - set(_ABOUT)
        if strange := sorted(curves.keys() - known):
            raise InvalidParameter(f"{_named(path, '.npz')}: {strange[0]!r} is not the name of a curve")
        try:
            return cls(**{name: record[name] for name in _RECORD}, **curves)
        except (TypeError, IndexError) as error:  # a curve that is missing, or of another shape
            raise InvalidParameter(f"{_named(path, '.npz')}: holds no curves of a run: {error}") from None


def library(name: str) -> Any:
    """Return a package that is not needed otherwise, or say how to install it."""
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

    level = arguments.real("band", "level", level, low=0, high=1, open_low=True, open_high=True)
    replicates, columns = values.shape
    if replicates < 2:
        raise NotApplicable("a confidence band needs at least 2 replicates; raise replicates, or use the exact engine")
    quantile = float(stdtrit(replicates - 1, 1.0 - (1.0 - level) / (2.0 * columns)))
    # Squares of values beyond 1e154 overflow. Dividing by a power of two changes no digit.
    scale = np.where(np.abs(values).max(axis=0) > 2.0**500, 2.0**600, 1.0)
    with np.errstate(over="ignore"):
        return np.asarray(quantile * (values / scale).std(axis=0, ddof=1) / math.sqrt(replicates) * scale)
