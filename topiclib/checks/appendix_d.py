"""Checks of the exercises of Appendix D."""
