"""The rules of detection, one per module; `registry` lists them in order."""
