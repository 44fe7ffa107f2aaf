"""Status and records of the predictor."""
