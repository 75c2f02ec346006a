"""HTML pages with embedded pictures: no script, no other file."""

import base64
import io
from collections.abc import Callable, Iterable
from html import escape
from typing import TypeAlias

from PIL import Image

from densevse.report.pictures import Pixels
from densevse.report.rendering import META, STYLE

Picture: TypeAlias = Callable[[str], Pixels]
"""Maps an image's id to its picture (height, width, 3)."""

QUALITY = 80  # quality of JPEGs


def page(title: str, style: str, body: Iterable[str]) -> str:
    """A page with a title and the elements of its `body`; `style` is added to the style of tables."""
    elements = "\n".join(body)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head>{META}<title>{escape(title)}</title>\n'
        f"<style>{STYLE}{style}</style></head>\n<body><h1>{escape(title)}</h1>\n{elements}\n</body></html>\n"
    )


def picture_element(image_id: str, picture: Picture) -> str:
    """An img element that holds an image's picture as JPEG."""
    file = io.BytesIO()
    Image.fromarray(picture(image_id)).save(file, format="JPEG", quality=QUALITY)
    data = base64.b64encode(file.getvalue()).decode("ascii")
    return f'<img alt="{escape(image_id, quote=True)}" src="data:image/jpeg;base64,{data}">'
