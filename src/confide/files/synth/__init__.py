"""What synth.yaml says."""
