"""What the stages of a delivery are called."""

STAGES = {
    "unchecked": "Nobody checked the source as it is: confide check says what cannot be read",
    "twin": "Making up rows from dataset.yaml",
    "check": "Checking the study against the source's schema",
    "charge": "Asking the ledger",
    "read": "Reading and bounding",
    "noise": "Adding noise",
    "commit": "Storing the answer",
    "publish": "Publishing",
    "figures": "Drawing figures",
    "tables": "Writing tables",
    "report": "Writing the report",
    "write": "Saving",
    "verify": "Verifying",
}
