"""Gradients by patient of a validated module, as a training has them."""

from confide.jobs.learning.modules import program_of
from confide.jobs.learning.per_patient_gradients import PerPatientGradients


def gradients_of(module, *, features, clip, classes=2, program=None):
    program = program or program_of(module, features=features, classes=classes)
    held = {name: each.detach() for name, each in module.named_parameters()}
    weights = tuple([held[n] for n in names] for names in (program.trained, program.frozen))
    return PerPatientGradients(program, weights=weights, clip=clip)
