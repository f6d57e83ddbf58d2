"""Noisy quadratics: the problem, and generators that hit the constants they are asked for."""

from fltheory.quadratic.generators import client_quadratics, noisy_quadratic
from fltheory.quadratic.problem import Quadratic

__all__ = ["Quadratic", "client_quadratics", "noisy_quadratic"]
