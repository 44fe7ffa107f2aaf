"""Adapters for other packages, which are imported only with the module that is for them."""
