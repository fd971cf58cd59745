"""Exercises of Section 1."""

from exercises.format import Exercise

EXERCISES: list[Exercise] = []
