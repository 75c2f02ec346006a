"""`make feature-scales`: trains methods on features of several scales, and shows which of them collapse or diverge."""
