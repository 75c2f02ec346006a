"""Where data comes from: downloads, readers of official layouts, and the generated data set `scenes`."""
