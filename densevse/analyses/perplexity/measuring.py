"""Writes the likelihood of a split's sentences by a model's decoder, given the right image and another one.

The decoder of SCO (densevse/methods/decoder.py) generates a sentence from the fused vector v of its image. If v of
another image serves it as well, it does not depend on the image.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from densevse.analyses.perplexity.plan import has_decoder
from densevse.analyses.perplexity.schemas import LIKELIHOODS
from densevse.data.files import Files
from densevse.data.inputs import Pairs
from densevse.kernels.recurrent import Teaching
from densevse.methods.decoder import Decoder
from densevse.methods.interface import Batch, Images, Sentences, module_device
from densevse.methods.moving import to_device
from densevse.methods.sco import SCO, FusedImages, PlannedWords
from densevse.models.encoding import BATCH, batches, evaluation
from densevse.models.files import open_model
from densevse.runtime.arrays import Indices
from densevse.runtime.numerics import set_up
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.logs import progress

_SEED = 0  # of the shuffle, which is the same for all models


def write_likelihoods(
    model: str, threads: int, wildcards: Mapping[str, str], output: str, **files: str | list[str]
) -> None:
    """The job that writes the LIKELIHOODS of every sentence of a split.

    `wildcards` name the split, and `files` are the model's inputs. Raises `InputError` if the model has no decoder, or
    if the split cannot be shuffled (see `shuffle_images`).
    """
    split = wildcards["split"]
    inputs, method = open_model(Files(files), model, set_up(threads))
    if not has_decoder(method.hyperparameters):
        raise InputError(f"{model}: the model generates no sentences, so it has no perplexity; measure one that does.")
    pairs = inputs.pairs(split)
    others = shuffle_images(pairs.rows.family_of_image, split)
    schema.write(likelihoods(cast(SCO, method), pairs, others), LIKELIHOODS, output)


def shuffle_images(families: NDArray[np.object_], split: str) -> Indices:
    """Gives each image of a split the vector v of another one: (I,) the others, a permutation that is always the same.

    No image keeps its own v or has that of its family; `families` (I,) are those of the images. All images stand in a
    circle, each family side by side, otherwise in random order. Each image is given the one that is as many places
    before it as the largest family has images.

    Raises `InputError` that names the split if a family has more than half of its images, as no permutation exists
    then.
    """
    codes, names = pd.factorize(families)
    sizes, random = np.bincount(codes), np.random.default_rng(_SEED)
    largest = int(sizes.argmax())
    if 2 * sizes[largest] > len(codes):
        raise InputError(
            f"perplexity: {sizes[largest]} of the {len(codes)} images of the split {split} are of the family "
            f"{names[largest]}, so some would be given an image of their own family; measure another split."
        )
    circle = np.lexsort((random.permutation(len(codes)), random.permutation(len(names))[codes]))
    others = np.empty_like(circle)
    others[circle] = np.roll(circle, sizes[largest])
    return others


def likelihoods(method: SCO, pairs: Pairs, others: Indices) -> pd.DataFrame:
    """LIKELIHOODS rows of a split's sentences; `others` (I,) are the images that take the places of the right ones."""
    device, parts = module_device(method), []
    for rows in progress(batches(len(pairs.rows.caption_ids), BATCH), "likelihoods"):
        sentences, own = pairs.sentences(rows), pairs.rows.image_of_caption[rows]
        plan = method.plan(sentences)
        sentences = to_device(replace(sentences, plan=plan), device)
        found = {"predictions": np.bincount(cast(Teaching, plan.taught).sentence)}
        with evaluation(method):
            for name, image in {"right": own, "shuffled": others[own]}.items():
                images = to_device(pairs.images(image), device)
                found[name] = negative_log_likelihoods(method, images, sentences).cpu().numpy()
        parts.append(pd.DataFrame({"image_id": pairs.rows.image_ids[own], **found}))
    return pd.concat(parts, ignore_index=True).assign(caption_id=pairs.rows.caption_ids)


def negative_log_likelihoods(method: SCO, images: Images, sentences: Sentences) -> Tensor:
    """(S,) minus the log likelihood, in nats, of S sentences with their ends, each generated from v of its image.

    `images` are as many, one for each sentence, on the method's device.
    """
    pairs = torch.eye(len(sentences["words"].index), dtype=torch.bool)
    encoded = cast(FusedImages, method.encode_batch(Batch(images, sentences, pairs))[0])
    planned, decoder = cast(PlannedWords, method.device_plan(sentences)), cast(Decoder, method.decoder)
    return decoder.negative_log_likelihood(encoded.fused, sentences["words"], planned=planned.taught)
