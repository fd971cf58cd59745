"""Exercises of Section 5.2."""

from exercises.format import Exercise

EXERCISES: list[Exercise] = []
