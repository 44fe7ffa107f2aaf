"""Two rankings into one, and no five memories that say the same: those of session start."""

from memories.core.rankings import (
    DIVERSITY_DECAY,
    DIVERSITY_FLOOR,
    RRF_K,
    SIMILAR_COSINE,
    diversify,
    rrf,
)

__all__ = ["DIVERSITY_DECAY", "DIVERSITY_FLOOR", "RRF_K", "SIMILAR_COSINE", "diversify", "rrf"]
