"""Small artifacts of sentences, written as `word/TAG word/TAG`, for tests that count them."""

import pandas as pd

from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.artifacts.schemas.sentences import PARSES
from snakeproof import schema


def write_captions(folder, splits):
    """A caption table with the split of each caption_id; the image is the part before its #."""
    captions = pd.DataFrame({"caption_id": list(splits), "split": list(splits.values())})
    captions = captions.assign(image_id=captions["caption_id"].str.split("#").str[0], position=0, text="")
    schema.write(captions, CAPTIONS, folder / "captions.parquet")
    return str(folder / "captions.parquet")


def write_images(folder, splits, **status):
    """An image table with the split of each image_id; `status` of those that are not ok."""
    images = pd.DataFrame({"image_id": list(splits), "split": list(splits.values())})
    images = images.assign(
        source="images", file="", width=1, height=1, sha256="", captions=1, family=images["image_id"]
    )
    images["status"] = [status.get(image, "ok") for image in splits]
    schema.write(images, IMAGES, folder / "images.parquet")
    return str(folder / "images.parquet")


def parse_row(caption, sentence, dependencies=(), lemmas=None):
    """A row of PARSES; None as a sentence means one that could not be parsed."""
    pairs = [word.rsplit("/", 1) for word in (sentence or "").split()]
    tokens, tags = [word for word, _ in pairs], [tag for _, tag in pairs]
    links = [dict(zip(("relation", "governor", "dependent"), one, strict=True)) for one in dependencies]
    return {
        "caption_id": caption,
        "image_id": caption.split("#")[0],
        "text": " ".join(tokens),
        "status": "ok" if sentence is not None else "too long",
        "tokens": tokens,
        "lemmas": [(lemmas or {}).get(token, token) for token in tokens],
        "tags": tags,
        "tree": "",
        "basic_dependencies": [link | {"relation": link["relation"].split(":")[0]} for link in links],
        "enhanced_dependencies": links,
    }


def write_parses(folder, sentences, dependencies=None, lemmas=None, name="parses"):
    """A shard of parses of the sentences by caption_id, with their enhanced dependencies by caption_id."""
    rows = [
        parse_row(caption, text, (dependencies or {}).get(caption, ()), lemmas) for caption, text in sentences.items()
    ]
    schema.write(rows, PARSES, folder / f"{name}.parquet")
    return str(folder / f"{name}.parquet")
