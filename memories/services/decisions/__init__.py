"""Decide pending reviews, and undo rejections."""
