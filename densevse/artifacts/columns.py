"""Columns that several schemas have: the image, the caption, the split, and boxes."""

from snakeproof.schema import REAL, TEXT, Column

IMAGE_ID = Column("image_id", TEXT, "the image, unique in its data set")
CAPTION_ID = Column("caption_id", TEXT, "the caption: <image_id>#<position>")
SPLIT = Column("split", TEXT, "train, val, test or restval (MS-COCO's rest of val)")
BOX_COLUMNS = (
    Column("x", REAL, "left edge of the box, pixels"),
    Column("y", REAL, "top edge of the box, pixels"),
    Column("width", REAL, "width of the box, pixels"),
    Column("height", REAL, "height of the box, pixels"),
)
