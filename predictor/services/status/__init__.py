"""What the predictor reports about itself."""
