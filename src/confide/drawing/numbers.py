"""Numbers as readers see them: as many digits as the uncertainty carries, never more.

*Utility:* display only; tables for computing keep ten significant digits.  Losses are rounded up,
so that what is printed stays true.

References:
    [GUM08] JCGM 100. Guide to the expression of uncertainty in measurement. 2008, sec. 7.2.6.
        https://www.bipm.org/en/publications/guides
"""

import math
import re
import unicodedata
from decimal import Decimal
from fractions import Fraction

MINUS = "\N{MINUS SIGN}"
_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_MOST_DECIMALS = 6
_RANGE = re.compile(r"(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)")


def decimals_for(uncertainty: float) -> int:
    """Return the decimals at which two digits of the uncertainty show; negative: tens, hundreds.

    Example:
        A mean blood pressure within 0.84 mmHg, and a count within 12 persons:

        >>> decimals_for(0.84), decimals_for(12.0), decimals_for(150_099.0)
        (2, 0, -4)
    """
    if not uncertainty > 0 or not math.isfinite(uncertainty):
        return 0
    return min(_MOST_DECIMALS, 1 - math.floor(math.log10(uncertainty)))


def fixed(value: float, *, decimals: int) -> str:
    """Return a number with thousands separated and a true minus sign.

    Example:
        >>> fixed(-12345.678, decimals=1)
        '−12,345.7'
        >>> fixed(150_099, decimals=-4)
        '150,000'
    """
    text = f"{round(value, min(0, decimals)) if decimals < 0 else value:,.{max(0, decimals)}f}"
    if text.startswith("-") and not text.strip("-0,."):
        text = text[1:]  # no negative zero
    return text.replace("-", MINUS)


def significant(value: float, *, digits: int = 4) -> str:
    """Return a number to so many significant digits, thousands separated, without an exponent.

    Example:
        >>> significant(477612.3), significant(5.24404)
        ('477,600', '5.244')
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    places = digits - 1 - math.floor(math.log10(abs(value)))
    text = fixed(round(value, places), decimals=max(0, places))
    return text.rstrip("0").rstrip(".") if "." in text else text


def limit_of(amount: Fraction, *, digits: int = 4) -> Fraction:
    """Return a limit to so many significant digits, rounded down: what is shown is allowed.

    Example:
        >>> limit_of(Fraction("0.0229389")), limit_of(Fraction(0))
        (Fraction(2293, 100000), Fraction(0, 1))
    """
    if amount == 0:
        return amount
    step = Fraction(10) ** (math.floor(math.log10(abs(amount))) - digits + 1)
    return math.floor(amount / step) * step


def used_of(amount: Fraction, *, cap: Fraction) -> Fraction:
    """Return what is used of a cap to four significant digits, rounded up.

    What is within the cap is shown as no more than the cap is.

    Example:
        >>> used_of(Fraction("0.0211111"), cap=Fraction("0.0229389"))
        Fraction(66, 3125)
        >>> used_of(Fraction("0.0229389"), cap=Fraction("0.0229389"))
        Fraction(2293, 100000)
    """
    up = -limit_of(-amount)
    return min(up, limit_of(cap)) if amount <= cap else up


def epsilon_text(epsilon: Fraction) -> str:
    """Return an ε or ρ with four significant digits, rounded up.

    Example:
        >>> epsilon_text(Fraction(1, 3)), epsilon_text(Fraction(1, 2)), epsilon_text(Fraction(10))
        ('0.3334', '0.5', '10')
    """
    if epsilon <= 0:
        return "0"
    places = max(0, 3 - math.floor(math.log10(epsilon)))
    up = Fraction(math.ceil(epsilon * 10**places), 10**places)
    text = f"{Decimal(up.numerator) / Decimal(up.denominator):,.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def power_text(value: Fraction) -> str:
    """Return a small probability with a power of ten, rounded up to three digits.

    Example:
        >>> power_text(Fraction(1, 10**6)), power_text(Fraction(5, 10**8)), power_text(Fraction(0))
        ('10⁻⁶', '5 × 10⁻⁸', '0')
    """
    if value <= 0:
        return "0"
    power = math.floor(math.log10(value))
    digits = math.ceil(value / Fraction(10) ** power * 100)
    if digits >= 1000:
        power, digits = power + 1, 100
    if -3 < power < 3:
        return f"{float(Fraction(digits, 100) * Fraction(10) ** power):g}"
    exponent = f"10{str(power).translate(_SUPERSCRIPTS)}"
    return exponent if digits == 100 else f"{digits / 100:g} × {exponent}"


def percent(share: float | Decimal | Fraction, *, decimals: int = 1) -> str:
    r"""Return a share as a percentage, rounded up, without idle zeros.

    Example:
        >>> percent(Decimal("0.027")), percent(Fraction(95, 100))
        ('2.7\xa0%', '95\xa0%')
    """
    steps = Fraction(share) * 100 * 10**decimals
    up = math.ceil(round(steps, 9))
    text = f"{up / 10**decimals:.{decimals}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return f"{text}\N{NO-BREAK SPACE}%"


def clean(text: str, *, most: int = 80) -> str:
    r"""Return text from data or files for display: no control or direction characters, and short.

    Example:
        >>> clean("ward\u202e 7\n")
        'ward� 7�'
    """
    safe = "".join("\N{REPLACEMENT CHARACTER}" if _is_unsafe(c) else c for c in text)
    return safe if len(safe) <= most else f"{safe[: most - 1]}…"


def ranged(label: str) -> str:
    """Return a label with an en dash where it is a range of numbers, and no other label changed.

    Example:
        >>> [ranged(label) for label in ("20-39", "2026-10", "555-123", "E10-E14", "40")]
        ['20–39', '2026-10', '555-123', 'E10-E14', '40']
    """
    found = _RANGE.fullmatch(label)
    if found is None or not float(found[1]) < float(found[2]):
        return label
    return f"{found[1]}\N{EN DASH}{found[2]}"


def in_sentence(label: str) -> str:
    """Return a label inside a sentence: with a small first letter, unless it is an abbreviation.

    Example:
        >>> in_sentence("Age at entry"), in_sentence("HbA1c"), in_sentence("ICU days")
        ('age at entry', 'HbA1c', 'ICU days')
    """
    first = label.partition(" ")[0]
    return label[:1].lower() + label[1:] if first[1:].islower() else label


def opening(label: str) -> str:
    """Return a label at the beginning of a sentence, unless its letters are those of a symbol.

    Example:
        >>> opening("follow-up"), opening("pH"), opening("x2")
        ('Follow-up', 'pH', 'x2')
    """
    first = label.partition(" ")[0].rstrip(",")
    return label[:1].upper() + label[1:] if first[1:].islower() and first[1:].isascii() else label


def declared_number(value: float) -> str:
    """Return a declared number as it was written, with a true minus sign.

    Example:
        >>> declared_number(-3.0), declared_number(0.25)
        ('−3', '0.25')
    """
    return f"{value:.12g}".replace("-", MINUS)


def _is_unsafe(character: str) -> bool:
    # Joiners shape Persian and Indic words; other format characters can reorder or hide text.
    # XML cannot hold noncharacters such as U+FFFE, and what draws figures ends the process at them.
    point = ord(character)
    if point & 0xFFFE == 0xFFFE or 0xFDD0 <= point <= 0xFDEF:
        return True
    kind = unicodedata.category(character)
    return kind in ("Cc", "Cf", "Cs", "Co") and character not in "\u200c\u200d"
