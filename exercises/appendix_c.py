"""Exercises of Appendix C."""

from exercises.format import Exercise

EXERCISES: list[Exercise] = []
