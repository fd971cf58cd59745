"""Exercises of Section 2."""

from exercises.format import Exercise

EXERCISES: list[Exercise] = []
