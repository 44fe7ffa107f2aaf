"""The HTTP surface of the predictor: parse, call a service, show."""
