"""Types and columns that several schemas share. Boxes are in pixels of the upright image, origin top left."""

import pyarrow as pa

from densevse.artifacts.schema import Column

TEXT, NUMBER, REAL = pa.string(), pa.int32(), pa.float32()
TEXTS, REALS = pa.list_(TEXT), pa.list_(REAL)

IMAGE_ID = Column("image_id", TEXT, "the image, unique in its data set")
CAPTION_ID = Column("caption_id", TEXT, "the caption: <image_id>#<position>")
SPLIT = Column("split", TEXT, "train, val, test or restval (MS-COCO's rest of val)")
BOX_COLUMNS = (
    Column("x", REAL, "left edge of the box, pixels"),
    Column("y", REAL, "top edge of the box, pixels"),
    Column("width", REAL, "width of the box, pixels"),
    Column("height", REAL, "height of the box, pixels"),
)
