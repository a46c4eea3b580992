"""Whether a chart is one that every renderer of Vega-Lite reads: the schema that Altair carries."""

import altair as alt


def valid(chart):
    """Return the specification of a chart, once the published schema has accepted it."""
    spec = chart.to_dict()
    alt.Chart.from_dict(spec)
    return spec
