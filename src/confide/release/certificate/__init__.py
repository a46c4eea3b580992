"""The certificate: what was promised, what it cost, in fields and in sentences."""
