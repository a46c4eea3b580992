import pytest

import cohorts
from confide.drawing.words import Words, load_words
from confide.report.pages.save import contents
from confide.report.release import Release


@pytest.fixture(scope="session")
def words() -> Words:
    return load_words("en")


@pytest.fixture(scope="session")
def release() -> Release:
    """One release with a statistic of every kind, and one of 60 cells."""
    statistics = (*cohorts.every_statistic(), cohorts.wards_statistic())
    plan = cohorts.plan_of(statistics, dataset=cohorts.hospital(), nano=200_000_000)
    return cohorts.release_of(plan)


@pytest.fixture(scope="session")
def files(release: Release, words: Words) -> dict[str, bytes]:
    return contents(release, words=words)


@pytest.fixture(scope="session")
def html(files: dict[str, bytes]) -> str:
    return files["report.html"].decode()
