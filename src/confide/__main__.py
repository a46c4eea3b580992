"""Entry point of the command ``confide``."""


def main() -> None:
    """Run the command line."""
    from confide.cli import app

    app()
