"""Use cases of surveys whose answers are randomised before they leave the respondent."""
