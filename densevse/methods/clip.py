"""Zero-shot CLIP (Radford et al., ICML 2021): ranks with a network's own encoders, without training.

Both sides are of unit norm, so that the score of an image and a sentence is the cosine of their vectors. CLIP's
training multiplies it by a temperature, which changes no rank.
"""

from torch import Tensor
from torch.nn import functional

from densevse.methods.interface import Batch, DualEncoder, Embeddings, Images, Moment, Sentences, Shapes
from densevse.methods.parameters.clip import Parameters
from densevse.methods.structures import Text


class CLIP(DualEncoder):
    """Encodes an image by the network of its view, and a sentence by the same network's encoder of sentences."""

    hyperparameters: Parameters

    def __init__(self, parameters: Parameters, shapes: Shapes) -> None:
        """Raises `ValueError` if there is no encoder of sentences, or the views are not the view `whole` alone."""
        super().__init__(parameters, shapes)
        if shapes.text_encoder is None:
            raise ValueError("clip needs a network that encodes sentences, such as one of open_clip")
        if set(shapes.features) != {"whole"}:
            raise ValueError(f"clip reads the view whole, not {sorted(shapes.features)}")
        self.text_encoder = shapes.text_encoder

    def encode_images(self, images: Images) -> Embeddings:
        """(I, D), of unit norm."""
        return Embeddings(functional.normalize(images.views["whole"], dim=1))

    def encode_sentences(self, sentences: Sentences) -> Embeddings:
        """(S, D), of unit norm."""
        text: Text = sentences["text"]
        return Embeddings(functional.normalize(self.text_encoder(text.tokens), dim=1))

    def loss(self, images: Embeddings, sentences: Embeddings, batch: Batch, moment: Moment) -> Tensor:
        """Raises `TypeError`: CLIP is not trained here (its configuration says `training: none`)."""
        raise TypeError(
            "clip is not trained: set `training: none`, or train another method on its image vectors as a view"
        )


METHOD = CLIP
