"""Checks of the exercises of the preface."""
