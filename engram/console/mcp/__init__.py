"""The Model Context Protocol: the API's operations as eight tools for language models."""
