"""survey.yaml, and true answers on a device."""
