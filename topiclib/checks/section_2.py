"""Checks of the exercises of Section 2."""
