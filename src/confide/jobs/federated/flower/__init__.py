"""Flower as a carrier: it moves the files of a federation's folder, and starts no program."""
