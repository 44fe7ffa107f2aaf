"""Read what a memory hangs on."""
