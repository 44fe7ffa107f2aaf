"""People label what a judge labelled, without seeing its answer."""
