"""Downloads from a server that answers in many odd ways."""
