"""Cross-fitting: scores of training images' concepts by heads that were trained without these images."""
