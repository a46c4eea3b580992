"""How losses compose, convert and calibrate; dp_accounting is named in numerical.py only."""
