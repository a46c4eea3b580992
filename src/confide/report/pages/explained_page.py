"""An explanation as a page of HTML, which stands alone as reports do.

*Privacy:* rearranges what is explained.
"""

from collections.abc import Sequence

from confide.drawing.markup import isolated, rows_of_texts, tag
from confide.drawing.words import Words
from confide.report.pages.document import document
from confide.report.wording.explain import Explanation


def explained_page(told: Explanation, *, words: Words, more: Sequence[Explanation] = ()) -> str:
    """Return the whole HTML document: title, sentences, tables; then what belongs to it.

    Args:
        told: What is explained.
        words: Language.
        more: Details, which a terminal shows one at a time.
    """
    body = tag(
        "div",
        tag("header", tag("h1", isolated(told.title))),
        tag(
            "main",
            [tag("p", isolated(sentence)) for sentence in told.sentences],
            [
                tag(
                    "section",
                    tag("h2", grid.title, id=f"t{place}"),
                    rows_of_texts(grid.head, grid.rows, numbers=(), class_="table shown"),
                    aria_labelledby=f"t{place}",
                )
                for place, grid in enumerate(told.grids, start=1)
            ],
            [
                tag(
                    "section",
                    tag("h2", isolated(each.title), id=f"m{place}"),
                    [tag("p", isolated(sentence)) for sentence in each.sentences],
                    aria_labelledby=f"m{place}",
                )
                for place, each in enumerate(more, start=1)
            ],
        ),
        class_="sheet",
    )
    return document(body, title=told.title, language=words.language)
