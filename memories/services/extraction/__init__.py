"""Turn transcripts into memories in the background, and keep what was refused for people to see."""
