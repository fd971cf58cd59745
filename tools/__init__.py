"""Tools that set up, build and check the book."""
