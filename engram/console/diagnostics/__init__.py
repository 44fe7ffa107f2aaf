"""How well each part of the service does in a workspace."""
