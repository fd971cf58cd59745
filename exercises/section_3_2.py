"""Exercises of Section 3.2."""

from exercises.format import Exercise

EXERCISES: list[Exercise] = []
