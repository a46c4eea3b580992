"""Surveys randomised at the respondent: what is promised, answered, and kept on the device."""
