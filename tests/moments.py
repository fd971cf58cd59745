"""Comparing means over independent samples with exact values, at a tolerance of five standard errors."""

import numpy as np
import numpy.typing as npt

SIGMAS = 5.0
"""A right sampler fails a comparison of one number about once in two million seeds; the seeds here are fixed."""


def assert_mean(samples: npt.ArrayLike, exact: npt.ArrayLike, sigmas: float = SIGMAS) -> None:
    """The mean over axis 0 (independent samples) is ``exact``, within five standard errors estimated from the samples.

    Entries that never vary must be exact to rounding.
    """
    x = np.asarray(samples, dtype=np.float64)
    error = x.std(axis=0, ddof=1) / np.sqrt(len(x))
    off = np.abs(x.mean(axis=0) - exact)
    worst = np.max(off - sigmas * error)
    assert worst <= 1e-12, f"means {x.mean(axis=0)}, exact {exact}, standard errors {error}"


def assert_fraction(hits: npt.ArrayLike, exact: npt.ArrayLike, sigmas: float = SIGMAS) -> None:
    """The fraction over axis 0 of independent yes-or-no trials is ``exact``, within five exact standard errors."""
    x = np.asarray(hits, dtype=np.float64)
    p = np.asarray(exact, dtype=np.float64)
    error = np.sqrt(p * (1 - p) / len(x))
    assert np.all(np.abs(x.mean(axis=0) - p) <= sigmas * error + 1e-12), f"{x.mean(axis=0)}, exact {p}, standard errors {error}"
