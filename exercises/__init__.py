"""The one source of every exercise. Never part of the installed library: it holds the solutions."""
