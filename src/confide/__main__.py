"""Entry point of the command ``confide``, and of ``python -m confide``."""


def main() -> None:
    """Run the command line."""
    from confide.cli.streams import keep_standard_descriptors

    keep_standard_descriptors()
    from confide.cli import app

    app()


if __name__ == "__main__":
    main()
