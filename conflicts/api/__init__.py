"""The HTTP surface of conflicts: parse, call a service, show."""
