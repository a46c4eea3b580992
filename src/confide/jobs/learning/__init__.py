"""Models that are trained: DP-SGD for modules of PyTorch."""
