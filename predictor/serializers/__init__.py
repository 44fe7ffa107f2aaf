"""What callers of the predictor send and see."""
