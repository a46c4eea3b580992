"""A report with a statistic of every kind, word for word and number for number."""

from kept_texts import assert_kept, page_text


def test_every_word_of_a_report_is_the_one_that_was_read(html):
    assert_kept("report/report.html", page_text(html))


def test_every_word_about_the_methods_is_the_one_that_was_read(files):
    assert_kept("report/methods.md", files["methods.md"].decode())
