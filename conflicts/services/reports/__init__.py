"""What callers say of pairs of memories: reports, relations, their record."""
