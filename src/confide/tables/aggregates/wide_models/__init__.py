"""Models of many terms: what is asked of the rows, and how far one patient moves it."""
