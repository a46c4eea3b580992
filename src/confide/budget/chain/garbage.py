"""A pause of the collector of cycles, while very many objects are made that hold none.

*Utility:* the collector would go through all that was made so far again and again, which takes a
tenth of the time in which a long ledger is read.
"""

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Pause the collector inside, as far as it was at work."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
