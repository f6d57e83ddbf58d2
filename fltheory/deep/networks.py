"""The networks of the papers, by name; PyTorch is loaded when one is built.

A network is a frozen dataclass with a ``name`` and a method ``build`` that returns a new module. Modules may have
parameters only: running means of batch normalisation belong to no client and average badly, so a module with buffers
is refused. (That is why the ResNet-50 of the EFL paper is not here; its other networks are.)

Sizes that the papers or their sources print, as a check: ``MLP`` on MNIST 199,210 parameters and, with hidden layers
of 100, 89,610 on ten letters; ``CNN`` 797,962 on CIFAR-10 and 815,332 on CIFAR-100; ``CNN`` of McMahan et al. (32 and
64 channels, padding, 512 hidden) 1,663,370 on MNIST; ``VGG11`` 865,482 on CIFAR-10; ``LSTM`` 133,520 on Shakespeare.

Sources: Acar et al., *Federated learning based on dynamic regularization*, 2021, and its public code (MLP, CNN, LSTM);
McMahan et al., *Communication-efficient learning of deep networks from decentralized data*, 2017; Sattler et al.,
*Robust and communication-efficient federated learning from non-IID data*, 2019 (VGG11 with fewer channels).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from fltheory._internal import arguments
from fltheory.errors import InvalidParameter

Shape = tuple[int, ...]


class Network(Protocol):
    """A kind of network."""

    name: ClassVar[str]

    def build(self, shape: Shape, num_classes: int) -> Any:
        """Return a module that maps inputs ``(samples, *shape)`` to scores ``(samples, num_classes)``."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Softmax:
    """Multinomial logistic regression on the flattened input.

    Parameters
    ----------
    intercept
        Add a constant to every score.
    """

    name: ClassVar[str] = "softmax"

    intercept: bool = True

    def __post_init__(self) -> None:
        arguments.boolean("Softmax", "intercept", self.intercept)

    def build(self, shape: Shape, num_classes: int) -> Any:
        """Return one linear layer."""
        from torch import nn

        return nn.Sequential(nn.Flatten(), nn.Linear(math.prod(shape), num_classes, bias=self.intercept))


@dataclass(frozen=True, kw_only=True, slots=True)
class MLP:
    """Fully connected layers with rectifiers between them.

    Parameters
    ----------
    hidden
        Widths of the hidden layers.
    """

    name: ClassVar[str] = "mlp"

    hidden: tuple[int, ...] = (200, 200)

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", _widths("MLP", "hidden", self.hidden))

    def build(self, shape: Shape, num_classes: int) -> Any:
        """Return the layers in a row."""
        from torch import nn

        return nn.Sequential(nn.Flatten(), *_dense((math.prod(shape), *self.hidden, num_classes)))


@dataclass(frozen=True, kw_only=True, slots=True)
class CNN:
    """Convolutions, each followed by a rectifier and 2 x 2 maximum pooling, then fully connected layers.

    Parameters
    ----------
    channels
        Channels of the convolutions.
    kernel
        Side of their windows.
    padding
        Zeros around their inputs.
    dense
        Widths of the fully connected layers before the last.
    """

    name: ClassVar[str] = "cnn"

    channels: tuple[int, ...] = (64, 64)
    kernel: int = 5
    padding: int = 0
    dense: tuple[int, ...] = (384, 192)

    def __post_init__(self) -> None:
        object.__setattr__(self, "channels", _widths("CNN", "channels", self.channels))
        object.__setattr__(self, "dense", _widths("CNN", "dense", self.dense))
        arguments.integer("CNN", "kernel", self.kernel, low=1)
        arguments.integer("CNN", "padding", self.padding, low=0)

    def build(self, shape: Shape, num_classes: int) -> Any:
        """Return the layers in a row; an image without channels has one."""
        from torch import nn

        depth, *sides = _image("CNN", shape)
        layers: list[Any] = [nn.Unflatten(1, (1, sides[0]))] if len(shape) == 2 else []
        for width in self.channels:
            layers += [nn.Conv2d(depth, width, self.kernel, padding=self.padding), nn.ReLU(), nn.MaxPool2d(2)]
            depth, sides = width, [(side + 2 * self.padding - self.kernel + 1) // 2 for side in sides]
        if min(sides) < 1:
            raise InvalidParameter(
                f"CNN.channels must leave something of an image of shape {shape}, got channels={self.channels} with "
                f"kernel={self.kernel}; use fewer, or raise padding"
            )
        return nn.Sequential(*layers, nn.Flatten(), *_dense((depth * math.prod(sides), *self.dense, num_classes)))


@dataclass(frozen=True, kw_only=True, slots=True)
class VGG11:
    """Eight convolutions of 3 x 3 and three fully connected layers, without dropout and normalisation.

    Parameters
    ----------
    width
        Channels of the first convolution; the others have 2 and then 4 times as many.
    """

    name: ClassVar[str] = "vgg11"

    width: int = 32

    def __post_init__(self) -> None:
        arguments.integer("VGG11", "width", self.width, low=1)

    def build(self, shape: Shape, num_classes: int) -> Any:
        """Return the layers in a row; five poolings need sides of at least 32."""
        from torch import nn

        depth, *sides = _image("VGG11", shape)
        if min(sides) < 32:
            raise InvalidParameter(f"VGG11 needs images of at least 32 x 32, got shape {shape}; use the network cnn")
        layers: list[Any] = [nn.Unflatten(1, (1, sides[0]))] if len(shape) == 2 else []
        for block in ((1,), (2,), (4, 4), (4, 4), (4, 4)):
            for factor in block:
                layers += [nn.Conv2d(depth, factor * self.width, 3, padding=1), nn.ReLU()]
                depth = factor * self.width
            layers.append(nn.MaxPool2d(2))
        end = depth * math.prod(side // 32 for side in sides)
        return nn.Sequential(*layers, nn.Flatten(), *_dense((end, depth, depth, num_classes)))


@dataclass(frozen=True, kw_only=True, slots=True)
class LSTM:
    """Symbols to vectors, layers of long short-term memory, and scores of what comes next from the last output.

    Parameters
    ----------
    embedding
        Length of a symbol's vector.
    hidden
        Width of the layers.
    layers
        Number of layers.
    symbols
        Size of the alphabet; the number of classes if ``None``.
    """

    name: ClassVar[str] = "lstm"

    embedding: int = 8
    hidden: int = 100
    layers: int = 2
    symbols: int | None = None

    def __post_init__(self) -> None:
        for field in ("embedding", "hidden", "layers"):
            arguments.integer("LSTM", field, getattr(self, field), low=1)
        if self.symbols is not None:
            arguments.integer("LSTM", "symbols", self.symbols, low=1)

    def build(self, shape: Shape, num_classes: int) -> Any:
        """Return the module; an input is a row of symbols."""
        from torch import nn

        if len(shape) != 1:
            raise InvalidParameter(f"LSTM needs rows of symbols, got inputs of shape {shape}; use mlp or cnn")

        class Reader(nn.Module):
            def __init__(self, symbols: int, embedding: int, hidden: int, layers: int) -> None:
                super().__init__()
                self.embed = nn.Embedding(symbols, embedding)
                self.read = nn.LSTM(embedding, hidden, layers, batch_first=True)
                self.score = nn.Linear(hidden, num_classes)

            def forward(self, inputs: Any) -> Any:
                outputs, _ = self.read(self.embed(inputs))
                return self.score(outputs[:, -1])

        return Reader(self.symbols or num_classes, self.embedding, self.hidden, self.layers)


def _dense(widths: tuple[int, ...]) -> list[Any]:
    """Return fully connected layers from each width to the next, with rectifiers between them."""
    from torch import nn

    layers: list[Any] = []
    for before, after in itertools.pairwise(widths):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return layers[:-1]


def _image(owner: str, shape: Shape) -> Shape:
    """Return channels, height and width of an image."""
    if len(shape) == 2:
        return (1, *shape)
    if len(shape) != 3:
        raise InvalidParameter(f"{owner} needs images, got inputs of shape {shape}; use the network mlp")
    return shape


def _widths(owner: str, field: str, values: Any) -> tuple[int, ...]:
    try:
        return tuple(arguments.integer(owner, field, value, low=1) for value in values)
    except TypeError:
        raise arguments.fail(owner, field, "a list of integers >= 1", values) from None
