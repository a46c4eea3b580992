"""The one door: gate, certificate, verification, export."""
