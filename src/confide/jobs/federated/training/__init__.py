"""Trainings over sites: gradients clipped by patient and added up, each site with its noise."""
