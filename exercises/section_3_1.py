"""Exercises of Section 3.1."""

from exercises.format import Exercise

EXERCISES: list[Exercise] = []
