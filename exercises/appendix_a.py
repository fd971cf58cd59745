"""Exercises of Appendix A."""

from exercises.format import Exercise

EXERCISES: list[Exercise] = []
