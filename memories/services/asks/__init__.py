"""Keep which pairs of memories writers are asked about, until they answer or the ask expires."""
