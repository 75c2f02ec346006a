"""A trained model that is kept loaded, and answers one question after another by the code of the search's jobs."""

import sys
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch

from densevse.analyses.searches.dag import OWN_SPLIT, Served
from densevse.analyses.searches.own import write_sentences
from densevse.analyses.searches.searching import answers, found_rows
from densevse.artifacts.boxes import BOX
from densevse.artifacts.images import decode
from densevse.config.registries import reads_one_vector
from densevse.data.files import Files
from densevse.data.inputs import Inputs, Pairs
from densevse.inference.folder import ModelFolder
from densevse.inference.model import Model
from densevse.language.parses import write_parses
from densevse.language.tokens import write_tokens
from densevse.methods.interface import DualEncoder, Method, Phrases, module_device
from densevse.methods.moving import to_device
from densevse.models.embedding import add_text, region_vectors
from densevse.models.encoding import encode_sentences, evaluation
from densevse.models.encodings import KeptImages
from densevse.models.files import UNTRAINED, load_model, text_encoder_settings
from densevse.models.searching import EncodedRows, score_encodings, search
from densevse.report.pictures import jpeg, photographs, resize_picture
from densevse.runtime.arrays import Indices
from densevse.runtime.numerics import set_up
from densevse.scenes.grammar import GrammarParser
from snakeproof.errors import InputError
from snakeproof.files import checksum

LONGEST = 500
"""Characters of a sentence."""
_SIDE = 480
"""Pixels of the longer side of a picture: twice those on the page, for fine screens."""
_FIRST = np.zeros(1, np.int64)
"""The row of the only sentence."""
_PHRASES = ("embed_regions", "embed_phrases", "assign")
"""The functions of a method whose answers have regions with phrases."""


class Pictured(NamedTuple):
    """Images that a sentence finds, the best first."""

    rows: pd.DataFrame  # FOUND
    images: Indices  # (answers,) the row of each image among those that are searched
    phrases: list[list[dict[str, Any]]]  # of each: its rows of `RegionsOfPhrases`, empty if the method has none


class Searcher:
    """A trained model with the images and the sentences that it searches.

    Torch's settings hold for one thread: the thread that makes the object also asks it. Any thread may call `picture`.
    """

    def __init__(self, served: Served, top: int) -> None:
        """Opens the files; each question gets `top` answers. Raises `InputError` if they do not fit the model."""
        device = set_up(served.threads)
        self._top, self._folder = top, ModelFolder(Path(served.model).parent)
        self._files, self._parser = Files(served.sentences), GrammarParser()
        self._method = load_model(served.model).to(device)
        self._images = KeptImages(served.encodings, type(self._method), device)
        self._picture = photographs(str(served.images["image_table"]), served.sources)
        split = Path(served.encodings).stem
        with_phrases = all(map(type(self._method).can, _PHRASES))
        self._regions = RegionsOfPhrases(self._method, Files(served.images), split) if with_phrases else None
        self.photographs: AskedPhotographs | None = None
        self.refusal = ""
        try:
            inputs = self._inputs(self._files)
            self.photographs = AskedPhotographs(self._method, self._folder, inputs, served, top)
        except InputError as error:
            self.refusal = f"A photograph cannot be asked. {error}"
            if error.__cause__:
                own = "Or name it as `local` of the network in the files of --configfile."
                print(f"{self.refusal} {error.__cause__} {own}", file=sys.stderr)

    def picture(self, row: int) -> bytes:
        """The picture of a searched image as JPEG. Raises `IndexError` for a row that there is not."""
        return jpeg(resize_picture(self._picture(self._images.image_ids[row]), _SIDE))

    def ask(self, sentence: str) -> Pictured:
        """The images that a sentence finds.

        Raises `InputError` for a sentence that is empty or too long, has no known word, or cannot be parsed.
        """
        if not sentence.strip():
            raise InputError("The sentence is empty; type a few words.")
        if len(sentence) > LONGEST:
            raise InputError(f"The sentence has {len(sentence):,} characters; type at most {LONGEST}.")
        with TemporaryDirectory(prefix="densevse-") as folder:
            inputs = self._inputs(self._write_artifacts(sentence, Path(folder)))
            rows = answers(self._method, inputs, self._images, OWN_SPLIT, "sentences", self._top)
            images = pd.Index(self._images.image_ids).get_indexer(pd.Index(rows["image_id"]))
            return Pictured(
                rows, images, self._regions.locate_phrases(inputs, images) if self._regions else [[] for _ in images]
            )

    def _inputs(self, files: Files) -> Inputs:
        """Sentences as the model reads them."""
        known = self._folder.description
        return Inputs(files, known["sentences"], text_encoder_settings(self._folder.model, known))

    def _write_artifacts(self, sentence: str, folder: Path) -> Files:
        """The artifacts of one sentence, as the jobs of a search write them."""
        captions, tokens, parses = (str(folder / f"{name}.parquet") for name in ("captions", "tokens", "00-of-01"))
        write_sentences([sentence], captions)
        files = self._files.replace_inputs(caption_table=captions)
        if "tokens" in files:
            write_tokens(captions, tokens)
            files = files.replace_inputs(tokens=tokens)
        if "parses" in files:
            write_parses(self._parser, None, captions, "00-of-01", parses)
            files = files.replace_inputs(parses=[parses])
        return files


class RegionsOfPhrases:
    """The noun phrases of a sentence with the region of each in some images (HM-LSTM, section 3.3)."""

    def __init__(self, method: Method, files: Files, split: str) -> None:
        """Opens the regions of the images of a split."""
        self._method, self._inputs = method, Inputs(files, [])
        self._images = self._inputs.all_images(split)
        self._boxes = self._inputs.regions.rows.set_index(["image_id", "rank"])[BOX]
        self._sizes = self._inputs.images.set_index("image_id")[["width", "height"] * 2]

    def locate_phrases(self, inputs: Inputs, images: Indices) -> list[list[dict[str, Any]]]:
        """The phrases of the only sentence of `inputs` in each image (by its row).

        Each has its words (`phrase`), the `confidence` of its region, and the region's `box` (x, y, width, height) in
        parts of the image's width and height.
        """
        sentence = inputs.all_sentences(OWN_SPLIT)
        with evaluation(self._method):
            found = self._method.embed_phrases(to_device(sentence.sentences(_FIRST), module_device(self._method)))
            regions, present = region_vectors(self._method, self._images, images)
            many = len(found.node)
            regions, present = (part.repeat_interleave(many, 0) for part in (regions, present))
            region, confidence = self._method.assign(regions, present, found.vectors.repeat(len(images), 1))
        phrases = _phrase_words(sentence, found, inputs)
        parts = (part.cpu().unflatten(0, (len(images), many)).tolist() for part in (region, confidence))
        names = self._images.rows.image_ids[images]
        return [
            [
                {"phrase": phrase, "confidence": sure, "box": self._box(name, rank)}
                for phrase, rank, sure in zip(phrases, ranks, confidences, strict=True)
            ]
            for name, ranks, confidences in zip(names, *parts, strict=True)
        ]

    def _box(self, image_id: str, rank: int) -> list[float]:
        parts: list[float] = (self._boxes.loc[(image_id, rank)] / self._sizes.loc[image_id].to_numpy()).tolist()
        return parts


def _phrase_words(sentence: Pairs, found: Phrases, inputs: Inputs) -> list[str]:
    """The words of each phrase of a sentence."""
    start, end = (bounds[found.node.numpy()] for bounds in sentence.forest().spans(_FIRST))
    rows = pd.DataFrame({"start": start, "end": end}).assign(caption_id=sentence.rows.caption_ids[0])
    return add_text(rows, inputs)["text"].tolist()


class AskedPhotographs:
    """Photographs that ask for sentences, by the network that made the features of the training."""

    def __init__(self, method: Method, folder: ModelFolder, inputs: Inputs, served: Served, top: int) -> None:
        """Loads the network, and encodes the sentences of `inputs` that are `served`; each question gets `top` answers.

        Raises `InputError` for a model that reads more of an image than one vector, or that was not trained, and if the
        network's weights are not there.
        """
        views = folder.description["shapes"]["features"]
        if not (reads_one_vector(views) and isinstance(method, DualEncoder)):
            raise InputError(
                f"This model reads {' and '.join(views)} of images, whose making takes longer than an answer. "
                "An entry with photographs below searches: in the configuration asks it "
                "(densevse/analyses/searches/README.md)."
            )
        if folder.description.get(UNTRAINED):
            raise InputError("This model is a network without training, and does not say how it reads photographs.")
        self._method, self._top = method, top
        self._model = Model(method, folder, _own_weights(folder, views, served.local))
        try:
            self._model.encode_images([np.zeros((8, 8, 3), np.uint8)])  # loads the network, for which none shall wait
        except InputError as error:  # names files of this machine, which a page shall not
            raise InputError("Its network is not at hand: see the terminal of this page.") from error
        pairs = inputs.all_sentences(served.split)
        self._ids = pairs.rows.caption_ids
        self._texts = np.array(inputs.sentence_texts(self._ids), object)
        self._sentences = EncodedRows(encode_sentences(method, pairs)[0])

    def ask(self, data: bytes) -> pd.DataFrame:
        """The FOUND rows of a photograph, given by its file's bytes. Raises `InputError` if they are no image."""
        vectors = torch.from_numpy(self._model.encode_images([decode(data, "the photograph")]))
        image = EncodedRows(vectors.to(module_device(self._method)))
        found = search(partial(score_encodings, self._method), image, self._sentences, "photographs", self._top)
        return found_rows(found, "photographs", np.array([""], object), self._ids, self._texts)


def _own_weights(folder: ModelFolder, views: Iterable[str], local: Mapping[str, str]) -> str | None:
    """The user's own file of the network that a model's features were computed with; None if it is another file now."""
    for seen in (folder.description["features"].get(view, {}) for view in views):
        file = local.get(seen.get("network"))
        if file and Path(file).is_file() and checksum(file) == seen.get("weights_sha256"):
            return file
    return None
