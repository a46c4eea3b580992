"""The engine that reads: DuckDB, and what it tells a steward."""
