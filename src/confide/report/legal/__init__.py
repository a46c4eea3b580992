"""Documents that a person signs: impact assessment, legal basis, identifiability, HIPAA, EHDS.

Automatic fields are filled from plan, ledger, certificate and audit results, each with its source;
fields for people stay visibly empty until a person has written something.  None of the documents
draws a conclusion in law.

*Privacy:* made from public facts alone; no row is read and nothing is charged.
"""
