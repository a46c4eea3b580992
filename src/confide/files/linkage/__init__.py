"""linkage.yaml: one linkage is one plan, one charge, one certificate."""
