"""Checks of the exercises of Section 5.3."""
