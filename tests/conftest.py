"""What holds for every test, in every process that a test starts."""

import os
import sys

from hypothesis import settings

# The suite starts hundreds of processes: without bytecode each of them compiles the whole product.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# No test asserts a time: an example is slow where the machine is, or where it imports a library.
# The fast suite tries the same examples at each run; `make audit` tries others every time.
settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile("others", deadline=None, print_blob=True)
settings.load_profile("same")
