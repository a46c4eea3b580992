"""Which layout a statistic's table has in the report."""

from confide.plans.plan import Statistic
from confide.release.release import Release
from confide.report.characteristics import characteristics
from confide.report.quality import quality
from confide.report.table import Shown, shown
from confide.report.words import Words
from confide.statistics.data_quality import DataQuality
from confide.statistics.table_one import TableOne


def laid_out(release: Release, statistic: Statistic, *, words: Words) -> Shown:
    """Return the table of a statistic, in the layout that readers of its kind expect."""
    match statistic:
        case TableOne():
            return characteristics(release, statistic, words=words)
        case DataQuality():
            return quality(release, statistic, words=words)
        case _:
            return shown(release, statistic, words=words)
