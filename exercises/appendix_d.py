"""Exercises of Appendix D."""

from exercises.format import Exercise

EXERCISES: list[Exercise] = []
