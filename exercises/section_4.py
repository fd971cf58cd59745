"""Exercises of Section 4."""

from exercises.format import Exercise

EXERCISES: list[Exercise] = []
