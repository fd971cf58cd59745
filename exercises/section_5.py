"""Exercises of Section 5."""

from exercises.format import Exercise

EXERCISES: list[Exercise] = []
