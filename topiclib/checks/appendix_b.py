"""Checks of the exercises of Appendix B."""
