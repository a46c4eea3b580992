"""What a first, charged part of a synthesis finds: bins of numbers, and categories of texts."""
