"""Exercises of the errata."""

from exercises.format import Exercise

EXERCISES: list[Exercise] = []
