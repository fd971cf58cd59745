"""Exercises of Appendix D.4."""

from exercises.format import Exercise

EXERCISES: list[Exercise] = []
