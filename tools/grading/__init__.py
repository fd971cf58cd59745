"""Grade submitted notebooks: answers run apart, in a process that can reach nothing; checks run here and ask it for values."""
