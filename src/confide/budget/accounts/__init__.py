"""What the rows add up to: lineages, counters under caps, requests, growing releases."""
