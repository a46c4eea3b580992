"""What an institution allows: caps, tiers, floors of utility, and who decides."""
