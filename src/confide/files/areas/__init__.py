"""Areas: outlines, and areas within areas."""
