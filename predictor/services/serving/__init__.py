"""The learned ranker at session start: features, time limit, circuit breaker."""
