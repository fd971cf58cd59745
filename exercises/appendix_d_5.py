"""Exercises of Appendix D.5."""

from exercises.format import Exercise

EXERCISES: list[Exercise] = []
