"""Attack lab: what textbooks do to tables without differential privacy, and what it does to them.

The steward's own table is attacked on the steward's own machine.  Nothing is released, no ledger is
opened, nothing is charged, and what comes out is exact: it stays with the steward.
"""
