"""linkage.yaml: two tables, a frozen model, and what is told of the links.

See docs/reference/linkage.md; the JSON Schema is generated from the models here.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from confide.errors import ContractError, in_file
from confide.files.accounting import AmountSection, amount_nano
from confide.files.dataset import DeclaredDataset, read_dataset
from confide.files.policy.policy_sections import YesNo
from confide.files.texts import Counting, Level, Section, beside, read_section
from confide.files.yaml_text import read_yaml
from confide.jobs.linkage.asks import (
    STEPS,
    BestScores,
    LinkageAsk,
    LinkedBy,
    LinkScores,
    Overlap,
    PublicRoster,
)
from confide.jobs.linkage.frozen_model import read_frozen_model
from confide.jobs.linkage.spec import Linkage
from confide.plans.plan import Study
from confide.privacy.amount import NANO
from confide.privacy.measure import Measure
from confide.regular_file import read_text

_LARGEST_MODEL = 1 << 20
_MOST_IDS = 1_000_000


class AboutLinkage(Section):
    """Why the tables are linked."""

    id: str
    title: str = ""
    purpose: str = ""
    audience: Literal["public", "registered", "internal"] = "public"
    tier: str = ""
    project: str = ""
    licence: str = ""


class ScoresSection(Section):
    """Scores of each id of a public roster."""

    roster: str
    most: Counting = 1


class LinkageRelease(Section):
    """What is told."""

    overlap: YesNo = False
    by: list[str] = Field(default_factory=list)
    histogram: list[Level] = Field(default_factory=list)
    scores: ScoresSection | None = None


class LinkageFile(Section):
    """The sections of linkage.yaml."""

    linkage: AboutLinkage
    dataset: str = "dataset.yaml"
    first: str
    second: str
    fields: list[str] = Field(min_length=1, max_length=50)
    model: str
    because: str
    threshold: Level
    links: Counting = 1
    release: LinkageRelease
    spend: AmountSection


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredLinkage:
    """What linkage.yaml says, and the data set it is about.

    Attributes:
        study: Why.
        job: What is linked and told.
        declared: The data set.
        file: Name of linkage.yaml.
    """

    study: Study
    job: Linkage
    declared: DeclaredDataset
    file: str


def read_linkage_file(source: Path, *, declared: DeclaredDataset | None = None) -> DeclaredLinkage:
    """Return what a linkage.yaml asks.

    Args:
        source: The file; model and roster are beside it.
        declared: The data set; read from the file that is named when None.

    Raises:
        ContractError: If it breaks its contract; the message names the place.
    """
    with in_file(source.name):
        file = read_section(LinkageFile, read_yaml(source), name=source.name)
        found = declared or read_dataset(beside(file.dataset, of=source))
        amount = Fraction(amount_nano(file.spend, dataset=found.dataset, place="spend"), NANO)
        word = "epsilon" if found.dataset.measure is Measure.PURE else "rho"
        fields = tuple(file.fields)
        job = Linkage(
            first=file.first,
            second=file.second,
            fields=fields,
            model=read_frozen_model(_model(beside(file.model, of=source)), fields=fields),
            because=file.because,
            threshold=score_on_grid(file.threshold),
            links=file.links,
            asks=_asks(file.release, of=source),
            **{word: amount},
        )
        return DeclaredLinkage(
            study=Study(**file.linkage.model_dump()), job=job, declared=found, file=source.name
        )


def score_on_grid(score: Fraction) -> int:
    """Return the least point of the grid of scores that is no less than a score.

    Example:
        >>> score_on_grid(Fraction("0.95"))
        973
    """
    return math.ceil(score * STEPS)


def _asks(release: LinkageRelease, *, of: Path) -> tuple[LinkageAsk, ...]:
    found: list[LinkageAsk] = [Overlap()] if release.overlap else []
    found += [LinkedBy(column=name) for name in release.by]
    if release.histogram:
        found.append(LinkScores(edges=tuple(score_on_grid(each) for each in release.histogram)))
    if release.scores is not None:
        roster = _roster(beside(release.scores.roster, of=of))
        found.append(BestScores(roster=roster, most=release.scores.most))
    return tuple(found)


def _model(path: Path) -> Mapping[str, Any]:
    try:
        value = json.loads(read_text(path, largest=_LARGEST_MODEL))
    except (ValueError, RecursionError):
        raise ContractError(f"{path.name} is no JSON.") from None
    except OSError:
        raise ContractError(f"The model {path.name} cannot be read.") from None
    if not isinstance(value, dict):
        raise ContractError(f"{path.name}: expected one JSON object.")
    return value


def _roster(path: Path) -> PublicRoster:
    """Return the public ids of a text file, one a line."""
    try:
        ids = tuple(read_text(path).splitlines())
    except (OSError, ValueError):
        raise ContractError(f"The roster {path.name} cannot be read.") from None
    if not 1 <= len(ids) <= _MOST_IDS or len(set(ids)) < len(ids) or "" in ids:
        raise ContractError(
            f"{path.name}: expected 1 to {_MOST_IDS:,} ids, each on a line of its own and once."
        )
    sha256 = hashlib.sha256("\n".join(ids).encode()).hexdigest()
    return PublicRoster(rows=len(ids), sha256=sha256, ids=ids)
