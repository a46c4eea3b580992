"""Made-up rows of a declared data set, for rehearsals."""
