"""Exercises of Appendix B."""

from exercises.format import Exercise

EXERCISES: list[Exercise] = []
