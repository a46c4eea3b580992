"""What is promised: unit, adjacency, loss, sensitivity, odds, groups, and how losses compose."""
