"""``confide request show``: what is asked, what it would cost, and what was decided."""

from confide.cli.options import HERE, Dataset
from confide.cli.output import Json, Output, Quiet
from confide.cli.request.options import Number


def show(
    number: Number, dataset: Dataset = HERE, *, as_json: Json = False, quiet: Quiet = False
) -> None:
    """Show a request as those who decide see it: plan, errors, charges; reads no data."""
    from confide.cli.request.words import show_asked, show_standing
    from confide.service.requests.listing import show_request

    found = show_request(number, dataset=dataset)

    def print_all() -> None:
        show_asked(found.preview)
        show_standing(found.request)

    Output(json=as_json, quiet=quiet).result("request", found, show=print_all)
