"""Checks of the exercises of Appendix A."""
