"""Tables from neural generators that DP-SGD trains: baselines, beside tables from marginals."""
