"""Releases over sites: members enrol, one proposes, each approves and takes part."""
