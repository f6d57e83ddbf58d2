r"""Local models drift apart by at most the step size times what the gradients differ.

Two clients start at the same model and take one gradient step with rate :math:`\eta`. Their models then differ by
exactly :math:`\eta` times the difference of their gradients, so

.. math:: \|w_1 - w_2\|^2 \le 2\eta^2\bigl(\|\nabla F_1(w)\|^2 + \|\nabla F_2(w)\|^2\bigr),

with equality for opposite gradients. Dropping the factor 2 looks harmless and is wrong; it is kept here as the
published form, to be found out.

**Derivation of the corrected form.** :math:`\|a - b\|^2 \le 2\|a\|^2 + 2\|b\|^2`.

Source: an example; state a lemma of your own in a file like this one.
"""

from typing import Any

from sympy import Le

from fltheory.claims import (
    Citation,
    Claim,
    Form,
    Instances,
    Integer,
    Kind,
    Kinked,
    NormSq,
    Params,
    Real,
    Space,
    family,
    one_based,
    scalar,
    symbols,
)

eta, grad_F = symbols.eta, symbols.grad_F

w = scalar("w", "w", "the model both clients start from", shape=("dim",))
local = family("local", "w_{<0>}", "a client's model after its step", shape=("clients", "dim"))


def realise(point: Params) -> dict[Any, Any]:
    """Return two clients with curvatures between 1 and 10 and their models after one step."""
    functions = Kinked(
        centre=point["centre"], knot=point["knot"], left=1 + 9 * point["left"], right=1 + 9 * point["right"]
    )
    start = point["w"]
    models = [start - point["eta"] * functions.gradient(client, start) for client in range(2)]
    return {w: start, local: models, eta: point["eta"], **one_based(functions)}


moved = NormSq(local[1] - local[2])
gradients = NormSq(grad_F(1, w)) + NormSq(grad_F(2, w))

claim = Claim(
    id="own.local-drift",
    kind=Kind.LEMMA,
    title="local models drift apart",
    citation=Citation("own", "an example"),
    forms=(
        Form(statement=Le(moved, eta**2 * gradients)),
        Form(variant="corrected", statement=Le(moved, 2 * eta**2 * gradients), note="with the factor 2"),
    ),
    check=Instances(
        space=Space(
            {
                "d": Integer(1, 2),
                "eta": Real(0.01, 1, log=True),
                "w": Real(-2, 2, shape=("d",)),
                **{name: Real(-2, 2, shape=(2, "d")) for name in ("centre", "knot")},
                **{name: Real(0, 1, shape=(2, "d")) for name in ("left", "right")},
            }
        ),
        realise=realise,
    ),
)
