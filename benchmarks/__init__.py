"""Speed targets, each a ratio of two things measured in one run. A module lists its figures in `rows()`."""
