"""The page of the lab: what each attack did, in words, numbers and a picture.

It is exact, so it says on its first line and beside every attack whose eyes it is for; in print, on
each page.  No value of any patient stands on it, only how many are exposed.

*Privacy:* none.  Counts of exposed patients are exact statistics of the table.
"""

from collections.abc import Sequence

from confide.attacks.lab.anonymity import Anonymity
from confide.attacks.lab.coin_game import TOO_FAR_ABOVE
from confide.attacks.lab.run import ANEW, AttackFound, LabFindings
from confide.drawing.charts.render import Drawing
from confide.drawing.markup import Html, isolated, rows_of_texts, tag
from confide.drawing.numbers import clean, epsilon_text, fixed
from confide.report.pages.document import document
from confide.report.pages.page_parts import drawing_part

STEWARD_ONLY = "For the steward's eyes only: exact numbers of patients. Not a release."
SHOWN_TO_ANYBODY = "Made-up patients: this may be shown to anybody."
_WHY_MADE_UP = (
    "Nobody is in this table: its patients were drawn by coins. A table of your own is attacked by "
    "the same code, and what comes out of that is for its steward alone."
)
_WHY = (
    "Nothing on this page has differential privacy, but for the answers that say so. It was made "
    "from the table itself, charged to no ledger, and must not leave the steward: publish none of "
    "its numbers, and keep it apart from releases."
)
_SHARE = (
    "Exposed means: concluded, and rightly, by somebody who knows what is said under “knows”. With "
    "noise nobody is ever certain, so there the attacker is given more: all other patients. A fair "
    "coin puts one patient in or out, and the attacker says which. Who is right with chance "
    "(1 + a)/2 knows as much as somebody who is certain of a share a of the patients and tosses a "
    "coin about the others, so a is the share exposed. Without a release it is 0."
)
_FLUKE = (
    "The share is measured, so it may pass its bound by chance. One that is more than {errors} "
    "standard errors above it is measured anew, in {anew} times as many games, before it is said "
    "to be."
)


def for_whom(found: LabFindings) -> str:
    """Return whose eyes what was found is for, in one sentence."""
    return SHOWN_TO_ANYBODY if found.settings.table.made_up else STEWARD_ONLY


def lab_page(found: LabFindings, *, drawn: Sequence[Drawing], title: str) -> str:
    """Return the whole HTML document.

    Args:
        found: What is told.
        drawn: A picture of each attack.
        title: Of the table.
    """
    settings = found.settings
    epsilon, whose, made_up = (
        epsilon_text(settings.epsilon),
        for_whom(found),
        settings.table.made_up,
    )
    sections = [
        _section(each, drawing=drawing, name=f"a{place}", epsilon=epsilon, whose=whose)
        for place, (each, drawing) in enumerate(zip(found.found, drawn, strict=True))
    ]
    facts = (
        ("Patients", f"{settings.table.patients:,}"),
        ("Quasi-identifiers", ", ".join(clean(name) for name in settings.table.quasi)),
        ("Sensitive", clean(settings.table.sensitive_name)),
        ("k", str(settings.k)),
        ("ε of each private answer", epsilon),
    )
    body = tag(
        "div",
        tag(
            "header",
            tag("p", whose, class_="kicker"),
            tag("h1", isolated(clean(f"Attacks on {title}", most=160))),
            tag("dl", [_fact(key, value) for key, value in facts], class_="facts"),
        ),
        tag(
            "section",
            tag("p", _WHY_MADE_UP if made_up else _WHY, class_="flag"),
            tag("p", _SHARE),
            class_="card",
        ),
        tag(
            "main",
            _anonymity(found),
            sections,
            tag("p", _FLUKE.format(errors=int(TOO_FAR_ABOVE), anew=ANEW), class_="note"),
        ),
        tag("footer", tag("p", whose)),
        class_="sheet",
    )
    lead = "" if made_up else "STEWARD ONLY: "
    return document(body, title=f"{lead}attacks on {clean(title)}", language="en")


def _fact(key: str, value: str) -> Html:
    return tag("div", tag("dt", key), tag("dd", isolated(value)))


def _anonymity(found: LabFindings) -> Html:
    head = ("", "classes", "k", "alone in theirs", "l, distinct", "l, entropy", "t")
    rows = [
        _measures("without names, as it is", found.as_it_is),
        _measures(f"{found.settings.k}-anonymous (Mondrian)", found.anonymised),
    ]
    return tag(
        "section",
        tag("h2", "What the table promises by itself", id="anonymity"),
        rows_of_texts(head, rows, numbers=range(1, len(head)), class_="table shown"),
        tag("p", for_whom(found), class_="note"),
        aria_labelledby="anonymity",
    )


def _measures(name: str, of: Anonymity) -> tuple[str, ...]:
    counts = (of.classes, of.k, of.unique, of.l_distinct)
    return (name, *(f"{each:,}" for each in counts), f"{of.l_entropy:.2f}", f"{of.t:.3f}")


def headline_of(found: AttackFound, *, epsilon: str) -> str:
    """Return what an attack did, in one sentence."""
    plain, private = found.plain, found.private
    share = fixed(100 * max(0.0, private.found.share), decimals=1)
    error = fixed(100 * private.found.standard_error, decimals=1)
    bound = fixed(100 * private.bound, decimals=1)
    known = plain.knowing_others
    all_told = f", and {round(100 * known.share)} % to who knows all others" if known else ""
    return (
        f"{plain.exposed:,} of {plain.patients:,} patients are exposed{all_told}. Under "
        f"differential privacy at ε = {epsilon} no attack exposes more than {bound} %; measured: "
        f"{share} ± {error} %."
    )


def _section(found: AttackFound, *, drawing: Drawing, name: str, epsilon: str, whose: str) -> Html:
    attack, plain, private = found.attack, found.plain, found.private
    said = headline_of(found, epsilon=epsilon)
    error = fixed(100 * private.found.standard_error, decimals=1)
    measured = (
        f"{private.found.games:,} guesses, standard error {error} percentage points; bound: "
        f"{private.law}."
    )
    passed = () if private.holds else (tag("p", "The bound was passed.", class_="flag"),)
    points = (
        ("knows", attack.knows),
        ("does", attack.does),
        ("without protection", attack.unprotected),
        ("with it", attack.private),
        ("from", attack.source),
    )
    remarks = [each for each in (plain.remark, private.remark) if each]
    return tag(
        "section",
        tag("h2", attack.title, id=name),
        tag("p", said, class_="headline"),
        passed,
        tag("figure", drawing_part(drawing, name=name, alt=said)),
        tag("ul", [tag("li", tag("b", f"{key}: "), text) for key, text in points]),
        [tag("p", remark) for remark in remarks],
        tag("p", measured, " ", whose, class_="note"),
        aria_labelledby=name,
    )
