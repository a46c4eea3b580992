"""``confide policy simulate``: play the planned releases against the caps, in order of time."""


def simulate() -> None:
    """x"""
