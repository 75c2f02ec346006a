"""`make interval-coverage`: how often the project's 95% intervals contain the true value."""
