"""Contour maps compared with boundaries that people drew."""

from densevse.artifacts.schema import IMAGE_ID, NUMBER, REAL, TEXT, Column, Schema

TOLERANCE = 0.0075
"""The largest distance of a matched pixel from a person's boundary, as a share of the image's diagonal."""

BOUNDARY_MATCHES = Schema(
    "boundary_matches",
    "a contour map of an image, cut at a threshold",
    (
        IMAGE_ID,
        Column("map", TEXT, "which map: of the contour network, of the hierarchy, or of the data set's authors"),
        Column("threshold", REAL, "what is as strong as this is drawn, 0 to 1"),
        Column("right", NUMBER, "drawn pixels that are matched with some person's boundaries"),
        Column("drawn", NUMBER, "pixels that are drawn"),
        Column("found", NUMBER, "pixels of boundaries that are matched, summed over people"),
        Column("true", NUMBER, "pixels of boundaries, summed over people"),
    ),
)
