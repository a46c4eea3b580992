"""Training and exchange: each job is a plan and passes the gate."""
