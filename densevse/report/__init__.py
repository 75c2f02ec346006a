"""Code that pages and figures share."""
