"""How times are written where no template says it: `FORMAT_MODULE_PATH` names this package."""
