"""What a browser must find on the built pages: one module for each kind of question."""
