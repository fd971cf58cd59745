"""topiclib: the library of the course 'How Transformers Learn Topic Structure'. One module a concept; see the README."""

__version__ = "0.1.0"
