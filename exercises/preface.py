"""Exercises of the preface."""

from exercises.format import Exercise

EXERCISES: list[Exercise] = []
