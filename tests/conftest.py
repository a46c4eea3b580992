"""What holds for every test, in every process that a test starts."""

import os
import sys

# The suite starts hundreds of processes: without bytecode each of them compiles the whole product.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
