"""``confide document legal-basis``."""

from confide.cli.document.write import (
    HERE,
    Audit,
    Lang,
    Language,
    Legal,
    Out,
    Replace,
    StudyFile,
    Wanted,
    What,
    Year,
    write,
)
from confide.cli.output import Json, Output, Period, Quiet


def legal_basis(  # noqa: PLR0913 - one for each option
    what: What,
    *,
    legal: Legal = None,
    audit: Audit = None,
    study: StudyFile = None,
    year: Year = None,
    period: Period = None,
    lang: Lang = Language.ENGLISH,
    out: Out = HERE,
    replace: Replace = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write the legal basis of each site, with the balancing test where one needs it.

    Reads no row and charges nothing.  Fields for a person stay empty and are listed.
    """
    from confide.report.legal.document import Kind

    wanted = Wanted(
        what=what,
        legal=legal,
        audit=audit,
        study=study,
        year=year,
        period=period,
        language=lang,
        out=out,
        replace=replace,
    )
    write(Kind.LEGAL_BASIS, wanted, output=Output(json=as_json, quiet=quiet))
