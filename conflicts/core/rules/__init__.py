"""The detective's rules, one a module; `registry` lists them in their order."""
