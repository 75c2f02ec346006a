"""A search of six photographs by small models, and its server: what its tests have in common."""

import http.client
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from werkzeug.serving import BaseWSGIServer

import densevse
from densevse.analyses.searches.dag import Served
from densevse.analyses.searches.own import write_photographs, write_sentences
from densevse.analyses.searches.schemas import FOUND
from densevse.analyses.searches.searching import write_answers
from densevse.analyses.searches.server import Site, open_server
from densevse.analyses.searches.serving import Searcher
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.features import ENCODINGS, REGION_FEATURES
from densevse.data.files import Files
from densevse.data.inputs import Inputs
from densevse.language.parses import write_parses
from densevse.language.tokens import write_tokens
from densevse.methods.interface import Shapes
from densevse.models.encodings import write_encodings
from densevse.models.files import build_method, load_model, save_model
from densevse.scenes.grammar import GrammarParser
from snakeproof import schema
from snakeproof.store import FeatureWriter
from tests.inference.models import folder_of
from tests.miniature import KNOWN, SIZE

SENTENCES = ["a red dog runs", "a small cat sleeps", "a blue dog", "a cat runs", "a dog", "a small blue dog sleeps ."]
TOP = 3


def served(project: Path, folder: Path, variant: str) -> Served:
    """A search of the project's photographs; its artifacts are written into a folder."""
    write_photographs(str(project / "photographs"), 1, folder / "images.parquet")
    captions, tokens, parses = (str(folder / f"{name}.parquet") for name in ("captions", "tokens", "00-of-01"))
    write_sentences(SENTENCES, captions)
    write_tokens(captions, tokens)
    write_parses(GrammarParser(), None, captions, "00-of-01", parses)
    sentences = {"caption_table": captions, "tokens": tokens, "parses": [parses]}
    sentences["words"] = str(project / "results/mine/vocabulary/words.parquet")
    images = {"image_table": str(folder / "images.parquet")}
    (folder / "encodings").mkdir()
    encodings = folder / "encodings/test.parquet"
    if variant == "hm_lstm":
        images["view_regions"] = [str(folder / "regions.parquet")]
        model = write_hm_lstm(folder, Files(images), encodings)
    else:
        del sentences["parses"]
        model = folder_of(project, variant) / "model.safetensors"
        write_vectors(densevse.load(model.parent).encode_images(photographs_of(project)), folder, encodings)
    places = {"title": "A search <of> six", "model": str(model), "encodings": str(encodings), "images": images}
    sources = {"photographs": str(project / "photographs")}
    return Served(**places, sources=sources, sentences=sentences, split="test", local={}, threads=1, made=[])


def photographs_of(project: Path) -> list[Path]:
    return sorted((project / "photographs").iterdir())


def write_vectors(vectors: np.ndarray, folder: Path, output: Path) -> None:
    """Writes vectors of the images as an ENCODINGS artifact."""
    parts = [{"dtype": "float32", "shape": [vectors.shape[1]]}]
    with FeatureWriter(output, ENCODINGS, vectors.shape[1:], np.float32, parts=parts) as file:
        ids = schema.read(folder / "images.parquet", IMAGES)["image_id"]
        file.append(pd.DataFrame({"image_id": ids, "same_as": ids}), vectors)


def write_hm_lstm(folder: Path, files: Files, encodings: Path) -> Path:
    """Writes an untrained HM-LSTM, two regions of each image beside the whole, and the encodings of the images."""
    images = schema.read(folder / "images.parquet", IMAGES)
    rows = images.loc[images.index.repeat(3), ["image_id", "width", "height"]]
    rows["rank"] = rows.groupby("image_id").cumcount()
    part = 1 / (1 + rows["rank"])
    rows = rows.assign(x=rows["width"] * (1 - part), y=0.0, score=1.0, class_name="")
    rows[["width", "height"]] = rows[["width", "height"]].mul(part, axis=0)
    with FeatureWriter(folder / "regions.parquet", REGION_FEATURES, (SIZE,), np.float16) as file:
        file.append(rows, np.random.default_rng(0).normal(size=(len(rows), SIZE)))
    torch.manual_seed(0)
    parameters = {"dimension": 8, "hidden": 8, "word_vectors": "learned", "word_dimension": 8}
    method = build_method("hm_lstm", parameters, Shapes({"regions": SIZE}, 2 + len(KNOWN)))
    save_model(method, "hm_lstm", ["trees"], folder / "model.safetensors", features={"regions": {}})
    write_encodings(load_model(folder / "model.safetensors"), Inputs(files, []), "test", encodings)
    return folder / "model.safetensors"


class Reply(NamedTuple):
    """An answer of the server."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes


class Running(NamedTuple):
    """A server that runs."""

    site: Site
    server: BaseWSGIServer
    searcher: Searcher
    served: Served

    def ask(self, path: str, body: bytes | None = None, **headers: str) -> Reply:
        """Sends a request as it is: the path of the page's address, and then `path`."""
        address = self.site.address.partition(f":{self.site.port}")[2] + path
        return self.ask_at(address, body, **headers)

    def ask_at(self, address: str, body: bytes | None = None, **headers: str) -> Reply:
        """The same for a path without the token."""
        connection = http.client.HTTPConnection("127.0.0.1", self.site.port, timeout=60)
        try:
            connection.request("GET" if body is None else "POST", address, body, headers)
            answer = connection.getresponse()
            return Reply(answer.status, answer.headers, answer.read())
        finally:
            connection.close()


@contextmanager
def running(reads: Served) -> Iterator[Running]:
    """A server of a search, in a thread."""
    with ThreadPoolExecutor(1) as asking:
        searcher = asking.submit(Searcher, reads, TOP).result()
        site = Site(searcher, reads.title, asking)
        server = open_server(site, 0)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield Running(site, server, searcher, reads)
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


def found(model: str, reads: Served, output: Path, asked: str, sentences: list[str] | None = None) -> pd.DataFrame:
    """The rows that a search job writes, for sentences or for all photographs."""
    files = dict(reads.sentences)
    if sentences:
        files |= {"caption_table": str(output / "own.parquet"), "tokens": str(output / "own_tokens.parquet")}
        write_sentences(sentences, files["caption_table"])
        write_tokens(files["caption_table"], files["tokens"])
    if "parses" in files:
        write_parses(GrammarParser(), None, files["caption_table"], "00-of-01", str(output / "00-of-01.parquet"))
        files["parses"] = [str(output / "00-of-01.parquet")]
    place = output / "found.parquet"
    write_answers(model, reads.encodings, str(place), "test", asked, TOP, 1, **files)
    return schema.read(place, FOUND)
