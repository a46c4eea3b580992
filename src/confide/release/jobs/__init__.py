"""Jobs through the gate: training and exchange in one passage, or in parts."""
