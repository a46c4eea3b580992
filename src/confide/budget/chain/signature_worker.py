"""A process that checks signatures for another, run as a module.

It reads questions from standard input and writes answers to standard output until there are no
more; it opens no file, and holds the site's key no longer than it answers.
"""

import sys

from confide.budget.chain.signatures import READY, answered, read_frame, write_frame


def main() -> None:
    """Answer until the questions end."""
    asks, answers = sys.stdin.buffer, sys.stdout.buffer
    write_frame(answers, READY)
    while True:
        try:
            asked = read_frame(asks)
        except EOFError:
            return
        write_frame(answers, answered(asked))


if __name__ == "__main__":
    main()
