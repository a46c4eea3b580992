"""Table 1: the characteristics of patients, by group and overall, from one budget."""

from confide.statistics.table_one.lines import Characteristic, Summary
from confide.statistics.table_one.spec import TableOne

__all__ = ["Characteristic", "Summary", "TableOne"]
