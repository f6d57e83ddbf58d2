"""The networks have the sizes that are printed, and refuse inputs that they cannot read."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from fltheory.configuration.registry import networks
from fltheory.deep.networks import CNN, LSTM, MLP, VGG11, Softmax
from fltheory.errors import InvalidParameter


@pytest.mark.parametrize(
    ("network", "shape", "classes", "size"),
    [
        (Softmax(), (28, 28), 10, 7_850),
        (Softmax(intercept=False), (28, 28), 10, 7_840),
        (MLP(), (28, 28), 10, 199_210),
        (MLP(hidden=(100, 100)), (28, 28), 10, 89_610),
        (CNN(), (3, 32, 32), 10, 797_962),
        (CNN(), (3, 32, 32), 100, 815_332),
        (CNN(channels=(32, 64), padding=2, dense=(512,)), (28, 28), 10, 1_663_370),
        (VGG11(), (3, 32, 32), 10, 865_482),
        (LSTM(), (80,), 80, 133_520),
    ],
)
def test_sizes_are_those_of_the_papers(network: Any, shape: tuple[int, ...], classes: int, size: int) -> None:
    module = network.build(shape, classes)
    assert sum(parameter.numel() for parameter in module.parameters()) == size
    symbols = isinstance(network, LSTM)
    inputs = torch.zeros((2, *shape), dtype=torch.int64 if symbols else torch.float32)
    assert module(inputs).shape == (2, classes)


def test_every_network_is_in_the_catalogue_and_in_this_table() -> None:
    assert set(networks().values()) == {Softmax, MLP, CNN, VGG11, LSTM}


@pytest.mark.parametrize(
    ("network", "shape", "message"),
    [
        (CNN(), (28,), "CNN needs images, got inputs of shape"),
        (CNN(channels=(4, 4, 4)), (12, 12), r"CNN\.channels must leave something of an image"),
        (VGG11(), (28, 28), "VGG11 needs images of at least 32 x 32"),
        (LSTM(), (28, 28), "LSTM needs rows of symbols"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(network: Any, shape: tuple[int, ...], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        network.build(shape, 10)


@pytest.mark.parametrize(
    "make",
    [
        lambda: MLP(hidden=(0,)),
        lambda: MLP(hidden=5),  # type: ignore[arg-type]
        lambda: CNN(kernel=0),
        lambda: CNN(padding=-1),
        lambda: CNN(dense=(2.5,)),  # type: ignore[arg-type]
        lambda: VGG11(width=0),
        lambda: LSTM(layers=0),
        lambda: LSTM(symbols=0),
        lambda: Softmax(intercept=1),  # type: ignore[arg-type]
    ],
)
def test_sizes_that_make_no_network_are_refused(make: Any) -> None:
    with pytest.raises(InvalidParameter, match="must be"):
        make()


def test_images_without_channels_have_one() -> None:
    network = CNN(channels=(2,), kernel=3, dense=())
    torch.manual_seed(0)
    flat = network.build((6, 6), 3)
    torch.manual_seed(0)
    deep = network.build((1, 6, 6), 3)
    images = torch.randn(4, 6, 6)
    torch.testing.assert_close(flat(images), deep(images[:, None]))
