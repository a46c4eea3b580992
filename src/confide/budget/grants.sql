-- What a role needs to write to the ledger, and no more: rows of the chain and answers are added,
-- never changed or deleted; triggers and tables belong to another role, which owns the schema.
-- Run by the owner, after the ledger was opened once by it:
--     confide ledger grants dataset.yaml --role ROLE | psql DATABASE

REVOKE ALL ON SCHEMA {schema} FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA {schema} FROM PUBLIC, {role};
GRANT USAGE ON SCHEMA {schema} TO {role};
GRANT SELECT ON {schema}.migration TO {role};
GRANT SELECT, INSERT ON {schema}.event, {schema}.payload TO {role};
GRANT SELECT, INSERT, UPDATE (state) ON {schema}.request TO {role};
GRANT SELECT, INSERT, UPDATE ON {schema}.head TO {role};
GRANT SELECT, INSERT, UPDATE, DELETE ON {schema}.counter TO {role};
GRANT SELECT, INSERT, UPDATE, DELETE ON {schema}.checkpoint TO {role};
