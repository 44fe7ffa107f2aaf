"""The HTTP API of memories: parse the request, call a service, present the result."""
