"""The ways in which two claims on one topic contradict each other; `registry` lists them."""
