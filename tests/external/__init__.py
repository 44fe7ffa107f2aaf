"""The product on servers of its own: `make test-external`, `python -m tests.external --help`."""
