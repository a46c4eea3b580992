"""What a site holds: keys, its ledger's pin, sealed files, snapshots, incidents."""
