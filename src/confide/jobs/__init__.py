"""Training and exchange: jobs are plans and pass the same ledger, policy and certificate."""
