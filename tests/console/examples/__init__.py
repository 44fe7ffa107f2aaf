"""Examples of the API, recorded from real calls; see `engram/console/api_examples.json`."""
