"""What the workspace knows: questions, the answers that hold, their history."""
