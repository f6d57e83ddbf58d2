"""Training loops in PyTorch with ``state_dict`` objects."""

import copy

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from fltheory.conformance import Conclusion, UserCodeError, conform  # noqa: E402
from fltheory.conformance.instances import federation  # noqa: E402
from fltheory.conformance.pytorch import TorchFederation, from_torch  # noqa: E402


def loop(view, *, clear=True, copies=True, prox=0.0):
    """FedAvg or FedProx as such code is usually written."""
    server = view.model()
    for t, participants in enumerate(view.participants):
        total = sum(int(view.sample_counts[i]) for i in participants)
        mean = {key: torch.zeros_like(value) for key, value in server.state_dict().items()}
        start = [p.detach().clone() for p in server.parameters()]
        for i in participants:
            model = copy.deepcopy(server) if copies else server
            optimiser = torch.optim.SGD(model.parameters(), lr=view.rates[t])
            for _ in range(int(view.steps[t, i])):
                for inputs, targets in view.loader(i):
                    if clear:
                        optimiser.zero_grad()
                    loss = view.loss_function(model(inputs), targets)
                    away = sum(((p - s) ** 2).sum() for p, s in zip(model.parameters(), start, strict=True))
                    (loss + prox / 2 * away).backward()
                    optimiser.step()
            for key, value in model.state_dict().items():
                mean[key] += int(view.sample_counts[i]) / total * value
        server.load_state_dict(mean)
        yield server.state_dict()


def run(dtype=None, **options):
    return from_torch(lambda view: loop(view, **options), dtype=dtype)


def test_a_training_loop_conforms():
    assert conform(run(), "fedavg", skip=["server-rate"]).conclusion is Conclusion.CONFORMS
    found = conform(run(prox=0.5), "fedprox", prox=0.5, skip=["server-rate"])
    assert found.conclusion is Conclusion.CONFORMS


@pytest.mark.parametrize(
    ("options", "name"),
    [({"clear": False}, "gradients-never-cleared"), ({"copies": False}, "one-model-for-all")],
)
def test_mistakes_of_training_loops_are_recognised(options, name):
    if name == "gradients-never-cleared":
        # Gradients of a model that was copied start from nothing, so they pile up over the steps of one round only.
        found = conform(run(**options), "fedavg", skip=["server-rate"])
        assert [[v.name for v in match] for match in found.matches] == [[name]]
        return
    found = conform(run(**options), "fedavg", skip=["server-rate"])
    assert name in [v.name for match in found.matches for v in match]


def test_single_precision_needs_a_tolerance():
    single = run(dtype=torch.float32)
    assert conform(single, "fedavg", skip=["server-rate"]).conclusion is Conclusion.DIFFERS
    assert conform(single, "fedavg", skip=["server-rate"], tolerance=1e-4).conclusion is Conclusion.CONFORMS


def test_the_view_is_the_same_federation():
    on = federation([[3, 2], [1, 0]], parameters={"prox": 0.1})
    view = on.torch()
    assert isinstance(view, TorchFederation)
    assert view.participants == on.participants
    model = view.model()
    for i in range(2):
        inputs, targets = next(iter(view.loader(i)))
        model.zero_grad()
        loss = view.loss_function(model(inputs), targets)
        loss.backward()
        assert float(loss.detach()) == pytest.approx(on.loss(i, on.start))
        np.testing.assert_allclose(model.weight.grad[0].numpy(), on.gradient(i, on.start))
    with pytest.raises(AttributeError, match=r"use model\(\), dataset\(client\)"):
        view.gradient(0, on.start)


def test_modules_and_tensors_may_be_yielded_and_change_later():
    def modules(view):
        model = view.model()
        for state in loop(view):
            model.load_state_dict(state)
            yield model

    assert conform(from_torch(modules), "fedavg", skip=["server-rate"]).conclusion is Conclusion.CONFORMS
    with pytest.raises(UserCodeError, match=r"must give a state_dict, a module or a tensor.*test_pytorch\.py, line"):
        conform(from_torch(lambda view: ["model"]), "fedavg")
