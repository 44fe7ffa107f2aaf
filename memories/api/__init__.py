"""The HTTP surface of memories: parse, call a service, show."""
