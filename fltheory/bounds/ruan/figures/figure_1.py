r"""Figure 1 of Ruan et al.: one round of schemes A, B and C beside the round in which everybody completes all steps.

Four clients have quadratics :math:`F_k(w) = \frac12\sum_a h_{ka}(w_a - c_{ka})^2` in the plane, equal weights and
:math:`E = 5` steps; two complete all of them, two stop after 3 and 4. Nothing is random: the aggregates are those of
the exact engine, the local paths are gradient steps. Directions are compared with the update of the round in which
all clients complete five steps.

The published figure is a drawing; centres, curvatures and learning rate are chosen here and stored with the numbers.
Scheme C rescales displacements, not gradients, so it points exactly along the full update only as the
learning rate tends to 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fltheory._internal.arguments import Floats
from fltheory.algorithms.ruan import Ruan
from fltheory.figures.study import Data, Study
from fltheory.figures.style import COLOURS, MARKERS, POINTS, dress, legend, line, panels
from fltheory.participation import Participation, Trace
from fltheory.quadratic.problem import Quadratic
from fltheory.simulation.engines import simulate
from fltheory.simulation.experiment import Experiment
from fltheory.simulation.recording import Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ASSIGNED, COMPLETED = 5, (3, 4, 5, 5)
CENTRES = ((1.0, 3.0), (3.0, 2.0), (3.2, -1.2), (1.6, -2.4))
CURVATURES = ((1.0, 1.3), (0.8, 1.0), (1.2, 0.9), (1.0, 1.1))
RATE = 0.08
SCHEMES = ("A", "B", "C")


def problem() -> Quadratic:
    """Return the four clients; the start is the origin."""
    hessian, centre = np.array(CURVATURES), np.array(CENTRES)
    return Quadratic(
        hessian=hessian,
        linear=-hessian * centre,
        constant=0.5 * (hessian * centre**2).sum(axis=1),
        sample_counts=np.ones(len(centre)),
        noise_sq=np.zeros(len(centre)),
        start=np.zeros(2),
    )


def update(scheme: str, steps: tuple[int, ...], rate: float) -> Floats:
    """Return the model after one round from the origin."""
    experiment = Experiment(
        problem=problem(),
        algorithm=Ruan(scheme=scheme),
        participation=Participation(num_clients=len(steps), local_steps=ASSIGNED, steps=Trace(steps=[list(steps)])),
        rounds=1,
        rate=rate,
    )
    moved = simulate(experiment, engine="exact", record=Record(moments=True)).curve("model_mean")
    return np.asarray(moved[0, -1], dtype=np.float64)


def angle(vector: Floats, reference: Floats) -> float:
    """Return the angle from ``reference`` to ``vector`` in degrees, positive anticlockwise."""
    cross = reference[0] * vector[1] - reference[1] * vector[0]
    return float(np.degrees(np.arctan2(cross, reference @ vector)))


def paths() -> list[list[list[float]]]:
    """Return the local models of every client after 0 to 5 steps."""
    found = []
    for h, c in zip(np.array(CURVATURES), np.array(CENTRES), strict=True):
        found.append([((1.0 - (1.0 - RATE * h) ** i) * c).tolist() for i in range(ASSIGNED + 1)])
    return found


def compute(*, quick: bool, seed: int) -> dict[str, Any]:
    """Run one round of every scheme, and again for other learning rates; the seed plays no part."""
    full = update("B", (ASSIGNED,) * len(COMPLETED), RATE)
    rates = np.geomspace(0.002, 0.2, 5 if quick else 17)
    schemes = []
    for scheme in SCHEMES:
        moved = update(scheme, COMPLETED, RATE)
        turned = []
        for rate in rates:
            reference = update("B", (ASSIGNED,) * len(COMPLETED), float(rate))
            turned.append(abs(angle(update(scheme, COMPLETED, float(rate)), reference)))
        schemes.append(
            {
                "scheme": scheme,
                "update": moved.tolist(),
                "angle": angle(moved, full),
                "length": float(np.linalg.norm(moved) / np.linalg.norm(full)),
                "angles": turned,
            }
        )
    return {
        "settings": {
            "assigned": ASSIGNED,
            "completed": COMPLETED,
            "centres": CENTRES,
            "curvatures": CURVATURES,
            "rate": RATE,
        },
        "paths": paths(),
        "full": full.tolist(),
        "schemes": schemes,
        "rates": rates.tolist(),
    }


def draw(data: Data) -> Figure:
    """Draw local paths, the updates, and the angle against the learning rate."""
    figure, axes = panels(1, 3, height=2.6)
    _draw_paths(axes[0, 0], data)
    _draw_updates(axes[0, 1], data)
    place = axes[0, 2]
    for index, found in enumerate(data["schemes"]):
        place.plot(data["rates"], found["angles"], label=f"scheme {found['scheme']}", **line(index))
    rate = data["settings"]["rate"]
    place.axvline(rate, color="0.6", linewidth=0.8)
    beside: dict[str, Any] = {"rotation": 90, "ha": "right", "va": "bottom", "fontsize": POINTS - 1}
    place.text(rate, 0.04, rf"left: $\eta = {rate:g}$", transform=place.get_xaxis_transform(), **beside)
    place.set_xscale("log")
    place.set_yscale("log")
    place.set_xlim(data["rates"][0], data["rates"][-1])
    dress(place, xlabel=r"learning rate  $\eta$", ylabel="angle to full update (degrees)", title="direction")
    return figure


def _draw_paths(place: Axes, data: Data) -> None:
    done = data["settings"]["completed"]
    for index, (path, steps) in enumerate(zip(data["paths"], done, strict=True)):
        points = np.array(path)
        colour = "black" if steps == data["settings"]["assigned"] else "0.5"
        place.plot(*points[steps:].T, color="0.75", linestyle=(0, (1, 1)), linewidth=1, marker="o", markersize=2.5)
        place.plot(*points[: steps + 1].T, color=colour, linewidth=1, marker="o", markersize=2.5)
        end = points[-1]
        place.annotate(
            f"client {index + 1}: {steps} of {data['settings']['assigned']}",
            end,
            xytext=(0, 6 if end[1] > 0 else -11),
            textcoords="offset points",
            ha="center",
            fontsize=POINTS - 2,
        )
    place.set_xlim(-0.15, 1.75)
    place.set_ylim(-1.25, 1.6)
    place.set_aspect("equal", adjustable="box")
    dress(place, xlabel="first coordinate  $w_1$", ylabel="second coordinate  $w_2$", title="local steps")


def _draw_updates(place: Axes, data: Data) -> None:
    full = np.array(data["full"])
    place.plot([0, full[0]], [0, full[1]], color="black", linewidth=3, alpha=0.25, solid_capstyle="round")
    place.plot(*full, "o", color="black", markersize=8, fillstyle="none", label="all complete")
    for index, found in enumerate(data["schemes"]):
        end = found["update"]
        place.plot([0, end[0]], [0, end[1]], **line(index))
        place.plot(*end, MARKERS[index], color=COLOURS[index], markersize=4, label=f"scheme {found['scheme']}")
    place.plot(0, 0, "k.", markersize=4)
    ends = np.array([full, *(found["update"] for found in data["schemes"])])
    reach = 1.15 * np.abs(ends[:, 1]).max()
    place.set_xlim(-0.05, 1.15 * ends[:, 0].max())
    place.set_ylim(-reach, reach)
    dress(place, xlabel="first coordinate  $w_1$", ylabel="second coordinate  $w_2$", title="aggregated update")
    legend(place, loc="upper left", fontsize=POINTS - 2)


def caption(data: Data) -> str:
    """Say how far each scheme turns the update."""
    turned = "; ".join(
        f"{found['scheme']} by {abs(found['angle']):.2g} degrees (length {found['length']:.2f})"
        for found in data["schemes"]
    )
    slow = ", ".join(f"{found['scheme']} {found['angles'][0]:.2g}" for found in data["schemes"])
    return (
        f"With clients that complete {', '.join(map(str, data['settings']['completed']))} of "
        f"{data['settings']['assigned']} steps the schemes turn the update away from that of full participation: "
        f"{turned}; as the learning rate falls to {data['rates'][0]:g} the angles become {slow} degrees."
    )


study = Study(
    name="ruan-figure-1",
    title="Ruan et al., Figure 1: one round of schemes A, B and C",
    paper="ruan",
    compute=compute,
    caption=caption,
    draw=draw,
)
