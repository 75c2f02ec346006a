"""What pages and figures share."""
