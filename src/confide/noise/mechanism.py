"""Mechanisms: the closed list, and how a plan writes them.

A plan, its digest and its certificate name noise by this text and nothing else.  An unknown name, a
missing or an extra field is refused: noise that is not understood is not noise.

*Privacy:* parameters are written as exact fractions; a float in a plan would be another mechanism.

References:
    [RFC8785] Rundgren, Jordan, Erdtman. JSON canonicalization scheme. 2020.
        https://doi.org/10.17487/RFC8785
"""

from typing import TypeAlias

from confide.noise.choices.quantile_set import QuantileSet
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.distributed.polya_difference import PolyaDifference
from confide.noise.peeling import Peeling
from confide.noise.set_selection import SetSelection
from confide.noise.threshold import KeyThreshold

AddedNoise: TypeAlias = DiscreteLaplace | DiscreteGaussian
"""What is added to each coordinate of an integer vector, and drawn as one."""

NoiseLaw: TypeAlias = AddedNoise | PolyaDifference
"""The law of what is added to each coordinate; the last is drawn in parts alone."""

Mechanism: TypeAlias = NoiseLaw | KeyThreshold | SetSelection | Peeling | QuantileSet
"""What hides one measurement."""
