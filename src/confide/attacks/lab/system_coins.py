"""The coins of the lab: the operating system's, as for every noise."""

from confide.noise.entropy import Entropy, SystemEntropy


def system_coins() -> Entropy:
    """Return the source of coins and noise that commands use."""
    return SystemEntropy()
