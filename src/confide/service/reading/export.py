"""Export: a certificate in the forms that registries, checkers and journals ask for."""

import enum
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from confide.errors import ContractError
from confide.regular_file import read_bytes, write_bytes, write_text
from confide.service.dump import OMITTED
from confide.service.reading.certificate_file import certificate_path

_GIVE = "Give it with --noisy, or as the steward --ledger dataset.yaml."
_NOISY = "The steward takes it from the ledger: add --ledger dataset.yaml. Others ask the issuer."


class Form(enum.Enum):
    """What a certificate can be exported as."""

    REGISTRY = "deployments-registry"
    ACRO = "acro"
    METHODS = "methods"
    MODEL_CARD = "model-card"
    NOISY = "noisy"
    LATEX = "latex"
    WORD = "word"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """A certificate in another form.

    Attributes:
        form: Which.
        file: Where it was written; None if nowhere.
        content: Its text, where it was not written.
    """

    form: Form
    file: Path | None
    content: Annotated[str | None, OMITTED] = None


def export(
    certificate: Path,
    *,
    form: Form,
    out: Path | None = None,
    noisy: Path | None = None,
    dataset: Path | None = None,
    labels: Path | None = None,
) -> Exported:
    """Return a certificate that verifies in another form, or write it to a file.

    Args:
        certificate: A certificate.json, or its folder.
        form: Which form.
        out: File to write.
        noisy: noisy.json, where a house rule withholds it.
        dataset: For the steward: dataset.yaml, to ask its ledger for the same.
        labels: The study.yaml whose labels methods, cards and tables use.

    Raises:
        VerificationError: If it does not verify.
        ContractError: If there is no such form of it.
    """
    from confide.release.verify.verify import read_certificate, verify

    path = certificate_path(certificate)
    held = read_certificate(path)
    payload = None if noisy is None else read_bytes(noisy, largest=None)
    if payload is None and dataset is not None:
        payload = _stored(held, dataset)
    checked = verify(held, folder=path.parent, payload=payload)
    options = f" --noisy {noisy}" if noisy is not None else ""
    options = f" --ledger {dataset}" if dataset is not None and not options else options
    checked.require(path, refused="it is not exported", options=options)
    if form is Form.WORD:
        return _word(held, folder=path.parent, payload=payload, out=out, labels=labels)
    text = _text(held, form=form, folder=path.parent, payload=payload, out=out, labels=labels)
    if out is not None:
        write_text(out, text)
    return Exported(form=form, file=out, content=text if out is None else None)


def _stored(held: Any, dataset: Path) -> bytes | None:
    """Return the noisy payload of a certificate from the ledger of a data set.

    Raises:
        ContractError: If it holds none for this certificate, or one that somebody withheld.
    """
    from confide.release.verify.against_ledger import payload_of, why_no_payload
    from confide.release.verify.verify_reuse import is_reuse
    from confide.service.opening import open_ledger

    if not isinstance(held, dict) or is_reuse(held):
        return None  # refused as what it is
    with open_ledger(dataset) as (ledger, declared):
        lineage = declared.dataset.lineage
        found = payload_of(held, ledger=ledger, lineage=lineage)
        if found is None:
            why = why_no_payload(held, ledger=ledger, lineage=lineage)
            raise ContractError(
                f"Nothing is exported with --ledger {dataset.name}: {why}.",
                hint="See: confide ledger show. Give the dataset.yaml whose ledger was charged; "
                "what was withheld is handed to nobody.",
            )
    return found


def _text(
    held: Any,
    *,
    form: Form,
    folder: Path,
    payload: bytes | None,
    out: Path | None,
    labels: Path | None,
) -> str:
    from confide.release.certificate.deployment_record import deployment_record
    from confide.release.output_check import results
    from confide.release.verify.verify_job import is_job

    if is_job(held) and form is Form.MODEL_CARD:
        return _job_card(held, folder=folder)
    _require_release(held)
    match form:
        case Form.REGISTRY:
            return _json(deployment_record(held))
        case Form.ACRO:
            paths = [each["path"] for each in held["outputs"] if "columns" in each]
            return _json(results(held, tables={p: read_bytes(folder / p) for p in paths}))
        case Form.METHODS | Form.MODEL_CARD | Form.LATEX:
            return _written(held, form=form, folder=folder, payload=payload, out=out, labels=labels)
        case Form.NOISY:
            return _payload(folder, payload, hint=_NOISY).decode()
        case Form.WORD:
            raise ContractError("A Word document is no text.")


def _require_release(held: Any) -> None:
    """Refuse jobs, and releases that were made of earlier ones."""
    from confide.release.verify.verify_job import is_job
    from confide.release.verify.verify_reuse import is_reuse

    if is_job(held):
        raise ContractError(
            "This is a job: of jobs there is a model card alone.",
            hint="Its files, job.json and certificate.json are complete; publish the folder.",
        )
    if is_reuse(held):
        raise ContractError(
            "This release was made of earlier ones at no charge, so it has no charge, law or noise "
            "of its own, of which these forms speak.",
            hint="Export the releases that it was made of; its certificate lists their ledger "
            "entries under sources. Do not run its study without --reuse: that is charged.",
        )


def _word(
    held: Any, *, folder: Path, payload: bytes | None, out: Path | None, labels: Path | None
) -> Exported:
    from confide.report.load import rebuilt
    from confide.report.pages.journal import word_document
    from confide.service.reading.labelled import labelled

    _require_release(held)
    if out is None:
        raise ContractError(
            "A Word document is written to a file.", hint="Add, for instance: --out tables.docx"
        )
    release = labelled(rebuilt(held, folder=folder, payload=_payload(folder, payload)), labels)
    write_bytes(out, word_document(release, words=release.words()))
    return Exported(form=Form.WORD, file=out)


def _written(
    held: Any,
    *,
    form: Form,
    folder: Path,
    payload: bytes | None,
    out: Path | None,
    labels: Path | None,
) -> str:
    from confide.report.load import rebuilt
    from confide.report.models.model_card import model_card
    from confide.report.pages.journal import latex_tables
    from confide.report.wording.methods import methods
    from confide.service.reading.labelled import labelled

    release = labelled(rebuilt(held, folder=folder, payload=_payload(folder, payload)), labels)
    words = release.words()
    if form is Form.LATEX:
        return latex_tables(release, words=words)
    if form is Form.METHODS:
        return methods(release, words=words)
    here = folder if out is None else out.parent
    figures = Path(os.path.relpath(folder / "figures", here)).as_posix()
    return model_card(release, words=words, folder=figures)


def _job_card(held: Any, *, folder: Path) -> str:
    from confide.drawing.words import load_words
    from confide.release.jobs.job_certificate import JobRelease
    from confide.release.verify.verify_job import answer_in
    from confide.report.models.job_card import job_card

    release = JobRelease(answer=answer_in(folder), certificate=held)
    return job_card(release, words=load_words("en"))


def _payload(folder: Path, payload: bytes | None, *, hint: str = _GIVE) -> bytes:
    try:
        return read_bytes(folder / "noisy.json", largest=None) if payload is None else payload
    except FileNotFoundError:
        raise ContractError(
            "A house rule keeps noisy.json out of this folder.",
            hint=hint,
        ) from None


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
