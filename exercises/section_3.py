"""Exercises of Section 3."""

from exercises.format import Exercise

EXERCISES: list[Exercise] = []
