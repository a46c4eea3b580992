"""How it is hidden: entropy, exact samplers and mechanisms."""
