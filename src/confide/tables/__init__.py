"""What the data look like, in public: schema, relations and contribution bounds."""
