"""A site's own mask: one secret seed gives a commitment and a mask that tell nothing of each other.

*Law.*  Both are HKDF of a uniform seed of 32 bytes, with different purposes.  The commitment lets
the coordinator see that shares join to the seed that the site began with, so a lying share ends the
round and never gives a wrong sum.
"""

from confide.jobs.federated.secure_sum.agreement import key_from


def commitment_to(seed_bytes: bytes, *, context: bytes, site: int) -> bytes:
    """Return what a site says of its seed before anybody else holds shares of it."""
    return key_from(seed_bytes, purpose="commitment", context=context, pair=(site, site))


def own_mask_key(seed_bytes: bytes, *, context: bytes, site: int) -> bytes:
    """Return the key of a site's own mask."""
    return key_from(seed_bytes, purpose="own mask", context=context, pair=(site, site))


def pair_mask_key(secret: bytes, *, context: bytes, sites: tuple[int, int]) -> bytes:
    """Return the key of the mask that two sites share, the same whichever asks."""
    return key_from(secret, purpose="pair mask", context=context, pair=(min(sites), max(sites)))
