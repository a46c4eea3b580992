"""An explanation as a page of HTML, which stands alone as reports do.

*Privacy:* rearranges what is explained.
"""

from confide.drawing.markup import isolated, rows_of_texts, tag
from confide.drawing.words import Words
from confide.report.pages.document import document
from confide.report.wording.explain import Explanation


def explained_page(told: Explanation, *, words: Words) -> str:
    """Return the whole HTML document: title, sentences, tables."""
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
        ),
        class_="sheet",
    )
    return document(body, title=told.title, language=words.language)
