"""In which direction numbers are wrong, in words that several kinds share."""

ZERO = "none, but that a count below 0 is shown as 0"
RATIO = "of order 1/n² in the noisy denominator n; none to speak of where no flag stands"
CHOICE = "not a number: a choice that is right with a stated chance"
