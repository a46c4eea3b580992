"""The features that go most strongly with an outcome."""
