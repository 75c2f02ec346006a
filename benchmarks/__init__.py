"""Speed targets, each a ratio of two things measured in one run; each module returns its numbers from `rows()`."""
