"""Exercises of Section 5.3."""

from exercises.format import Exercise

EXERCISES: list[Exercise] = []
