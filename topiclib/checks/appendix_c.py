"""Checks of the exercises of Appendix C."""
