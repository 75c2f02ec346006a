"""Features that were computed elsewhere, read into artifacts; and what is wrong with a file is said by its row or id."""
