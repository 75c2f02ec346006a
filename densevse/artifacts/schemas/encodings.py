"""Images as a trained model encodes them, stored for searches."""

from densevse.artifacts.schema import Schema
from densevse.artifacts.schemas.columns import IMAGE_ID

ENCODINGS = Schema(
    "encodings",
    "an image as a trained model encodes it: a file of densevse.artifacts.store, whose vector holds all parts of the "
    "encoding, one after the other, with the shapes that `parts` of made_from lists",
    (IMAGE_ID,),
)
