"""Request reviews for operations that the caller may not do alone."""
