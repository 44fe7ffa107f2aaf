"""What reviewers decide about requests that wait, and taking a rejection back."""
