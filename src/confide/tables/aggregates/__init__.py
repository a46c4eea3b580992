"""The shapes of exact vectors that measurements noise, and how far one patient moves each."""
