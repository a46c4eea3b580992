"""Models with the conventions of scikit-learn, fitted through plan, gate and ledger.

::

    from confide.learning import DPLogisticRegression

    model = DPLogisticRegression(
        bounds={"age": (0, 100)}, categories={"sex": ["F", "M"]},
        epsilon="1", delta="1e-6", workspace="diabetes-risk",
    )
    model.fit(X, y, patients=ids)      # charges the ledger in diabetes-risk/.confide
    model.predict_proba(new)           # free

scikit-learn itself is not needed; where it is installed, pipelines and ``clone`` work as usual.
``PATEClassifier`` needs it, for its teachers and its student.
"""

from confide.learning.hazard import DPHazardRegression
from confide.learning.ledger_folder import TemporaryLedger
from confide.learning.linear import DPLinearRegression
from confide.learning.logistic import DPLogisticRegression
from confide.learning.module_classifier import DPModuleClassifier
from confide.learning.module_over_sites import ModuleOverSites, PlanOverSites
from confide.learning.pate import Feasibility, PATEClassifier
from confide.learning.poisson import DPPoissonRegression
from confide.learning.scaling import PublicScaler

__all__ = [
    "DPHazardRegression",
    "DPLinearRegression",
    "DPLogisticRegression",
    "DPModuleClassifier",
    "DPPoissonRegression",
    "Feasibility",
    "ModuleOverSites",
    "PATEClassifier",
    "PlanOverSites",
    "PublicScaler",
    "TemporaryLedger",
]
