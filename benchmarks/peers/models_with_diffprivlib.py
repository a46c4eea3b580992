"""diffprivlib's logistic regression: pure ε = 1, one row a patient, the public norm of the terms."""

import sys
import warnings

import numpy as np
from diffprivlib.models import LogisticRegression

warnings.simplefilter("ignore")
given = np.load(sys.argv[1])
terms, outcome, draws = given["terms"], given["outcome"], int(given["draws"])
size = terms.shape[1]
found = np.zeros((len(given["fit"]), draws, size + 1))
for i, fit in enumerate(given["fit"]):
    for j in range(draws):
        model = LogisticRegression(epsilon=1.0, data_norm=float(np.sqrt(size)))
        model.fit(terms[fit], outcome[fit])
        found[i, j] = np.concatenate([model.intercept_, model.coef_[0]])
np.save(sys.argv[2], found)
