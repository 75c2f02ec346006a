"""A classifier used as a detector: class scores and vectors for crops, or for boxes on one shared feature map."""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, fx
from torchvision.models.feature_extraction import create_feature_extractor
from torchvision.ops import roi_align

from densevse.artifacts.boxes import Boxes
from densevse.config.networks import CLASSES
from densevse.vision.networks import Network, as_vectors


class Described(NamedTuple):
    """A network's description of n regions."""

    vectors: NDArray[np.float32]  # (n, D) output of the feature layer
    scores: NDArray[np.float32]  # (n,) score of the best class
    classes: NDArray[np.int64]  # (n,) the best class

    def take(self, indices: NDArray[np.int64] | slice) -> "Described":
        """Some of the regions."""
        return Described(self.vectors[indices], self.scores[indices], self.classes[indices])


class RegionNetwork:
    """A network that describes regions by the output of `layer`.

    A region's score is that of its best class: with `probability` after a softmax, else the last layer's output
    (R-CNN's SVMs). `background` is a class that no region may have, if there is one. `feature_map` is the layer from
    which boxes are read if crops would cost too much.
    """

    def __init__(
        self, network: Network, layer: str, feature_map: str, probability: bool = True, background: int | None = None
    ) -> None:
        self.network, self.layer, self.feature_map = network, layer, feature_map
        self.probability, self.background = probability, background
        self._head: fx.GraphModule | None = None

    @property
    def length(self) -> int:
        """The length of a region's vector, found with a black crop."""
        side = self.network.settings.size
        return int(self.of_crops(np.zeros((1, side, side, 3), np.uint8)).vectors.shape[1])

    def of_crops(self, crops: NDArray[np.uint8]) -> Described:
        """Describes warped crops (n, S, S, 3), RGB."""
        return self._described(*self.network.outputs(_batch(crops), [self.layer, CLASSES]))

    def of_boxes(self, image: NDArray[np.uint8], boxes: Boxes, cells: int) -> Described:
        """Describes boxes (n, 4) of an image (H, W, 3) after one convolution pass over it.

        RoIAlign (He et al., Mask R-CNN, section 3) turns each box into `cells` x `cells` positions of the map, which
        the rest of the network reads as if they were the map of a crop.
        """
        maps = self.network.outputs(_batch(image[None]), [self.feature_map])[0]
        scale = torch.tensor([maps.shape[3] / image.shape[1], maps.shape[2] / image.shape[0]] * 2)
        corners = torch.from_numpy(np.concatenate([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]], axis=1)) * scale
        if self._head is None:
            self._head = rest_of(self.network, self.feature_map, self.layer)
        with torch.inference_mode():
            aligned = roi_align(maps, [corners.to(maps.device)], cells, sampling_ratio=2, aligned=True)
            return self._described(*self._head(aligned.to(self.network.dtype)))

    def _described(self, activations: Tensor, logits: Tensor) -> Described:
        scored = logits.float().softmax(1) if self.probability else logits.float()
        if self.background is not None:
            # Not in place: a network returns inference tensors, which must not be changed outside inference mode.
            scored = scored.index_fill(1, torch.tensor(self.background, device=scored.device), -torch.inf)
        scores, classes = scored.max(dim=1)
        return Described(as_vectors(activations.float()).cpu().numpy(), scores.cpu().numpy(), classes.cpu().numpy())


def rest_of(network: Network, feature_map: str, layer: str) -> fx.GraphModule:
    """The part of the network after the layer `feature_map`: from its output to `layer` and class scores."""
    begin, *ends = (network.node(name) for name in (feature_map, layer, CLASSES))
    whole = create_feature_extractor(network.module, list(dict.fromkeys([begin, *ends])), suppress_diff_warning=True)
    graph: fx.Graph = whole.graph
    output = next(node for node in graph.nodes if node.op == "output")
    found: dict[str, fx.Node] = output.args[0]
    output.args = (tuple(found[name] for name in ends),)
    pixels = next(node for node in graph.nodes if node.op == "placeholder")
    with graph.inserting_before(pixels):
        maps = graph.placeholder("maps")
    found[begin].replace_all_uses_with(maps)
    graph.eliminate_dead_code()
    graph.erase_node(pixels)
    whole.delete_all_unused_submodules()
    whole.recompile()
    rest: fx.GraphModule = whole.eval()
    return rest


def _batch(images: NDArray[np.uint8]) -> Tensor:
    return torch.tensor(images).permute(0, 3, 1, 2)  # a copy, as decoded images cannot be written to
