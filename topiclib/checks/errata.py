"""Checks of the exercises of the errata."""
