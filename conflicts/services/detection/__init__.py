"""Finding contradictions: due rows, runs of rules and model, figures about them."""
