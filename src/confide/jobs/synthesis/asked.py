"""What may be asked of rows for a synthetic table: marginals, or a generator that is trained."""

from typing import TypeAlias

from confide.jobs.synthesis.deep.spec import DeepSynthesis
from confide.jobs.synthesis.spec import Synthesis

AnySynthesis: TypeAlias = Synthesis | DeepSynthesis
"""Both name columns, what they read, rules and criteria, and move a table of counts alike."""
