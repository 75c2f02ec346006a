"""Regions of an image: the whole image, and the proposals that a network scores highest.

R-CNN (Girshick et al., CVPR 2014), as DeFrag and HM-LSTM use it, warps every proposal with some context to the
network's input. The network gives class scores and a feature, non-maximum suppression removes duplicates within a
class, and the best 19 are kept beside the whole image. `RegionOptions` defines the options, which a config/networks
entry sets under `regions`. Three of them depart from R-CNN. With `scoring: roi_align`, one convolution pass over the
image gives a map from which every proposal is scored: many times faster, but not the papers' features. With `features:
roi_align`, the kept regions are read from this map too; without it they are warped, and their class and score are the
crop's. With an `area_exponent`, a region's score is its class score times (its share of the image's area) to this
power: a classifier of whole images, unlike a detector trained on boxes, scores a dog's ear as high as the dog.

The whole image is always fitted into the network's square as in the view `whole`, so that methods that read the one or
the other get the same vector.

A region has one class, its best, so a location is never two regions. The architecture faster_rcnn finds its own boxes
without proposals, and only `detections` and `nms_threshold` apply. With the proposer `detections`, the scores and
classes of the user's detections choose the regions, and the network only computes their vectors.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, fx

from densevse.artifacts.boxes import Boxes
from densevse.config.networks import CLASSES, RegionOptions
from densevse.runtime.ahead import prefetch_results
from densevse.vision.boxes import non_maximum_suppression, order_by_score
from densevse.vision.crops import Pixels, mean_colour, resize_shorter_side, squeeze_image, warp
from densevse.vision.networks import Network, as_vectors
from densevse.vision.quiet_torchvision import create_feature_extractor, roi_align

Item = TypeVar("Item")


class Described(NamedTuple):
    """A network's description of n regions."""

    vectors: NDArray[np.float32]  # (n, D) output of the feature layer
    scores: NDArray[np.float32]  # (n,) score of the best class
    classes: NDArray[np.int64]  # (n,) the best class

    def take(self, indices: NDArray[np.int64] | slice) -> "Described":
        """Some of the regions."""
        return Described(self.vectors[indices], self.scores[indices], self.classes[indices])


@dataclass(frozen=True)
class Candidates:
    """An image with boxes, the whole image first."""

    image_id: str
    pixels: Pixels
    boxes: Boxes  # (1 + n, 4)
    detected: "Detected | None" = None


class Detected(NamedTuple):
    """A user's detections for the n boxes of an image besides the whole image."""

    scores: NDArray[np.float32]  # (n,)
    classes: NDArray[np.int64]  # (n,)


class Window(NamedTuple):
    """A box of an image that is cropped."""

    image: Candidates
    number: int  # the number of the box; 0 is the whole image


class Regions(NamedTuple):
    """The regions of an image, best first after the whole image."""

    image_id: str
    boxes: Boxes
    described: Described


class RegionNetwork:
    """A classifier used as a detector: describes crops, or boxes on one shared feature map, by the output of `layer`.

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
        return int(self.describe_crops(torch.zeros(1, side, side, 3, dtype=torch.uint8)).vectors.shape[1])

    def describe_crops(self, crops: Tensor) -> Described:
        """Describes warped crops (n, S, S, 3) uint8, RGB."""
        return self._describe_outputs(*self.network.outputs(crops.permute(0, 3, 1, 2), [self.layer, CLASSES]))

    def describe_boxes(self, image: NDArray[np.uint8], boxes: Boxes, cells: int) -> Described:
        """Describes boxes (n, 4) of an image (H, W, 3) after one convolution pass over it.

        RoIAlign (He et al., Mask R-CNN, section 3) turns each box into `cells` x `cells` positions of the map, which
        the rest of the network reads as if they were the map of a crop.
        """
        maps = self.network.outputs(_copy_to_tensor(image[None]).permute(0, 3, 1, 2), [self.feature_map])[0]
        scale = torch.tensor([maps.shape[3] / image.shape[1], maps.shape[2] / image.shape[0]] * 2)
        corners = torch.from_numpy(np.concatenate([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]], axis=1)) * scale
        if self._head is None:
            self._head = network_head(self.network, self.feature_map, self.layer)
        with torch.inference_mode():
            aligned = roi_align(maps, [corners.to(maps.device)], cells, sampling_ratio=2, aligned=True)
            return self._describe_outputs(*self._head(aligned.to(self.network.dtype)))

    def _describe_outputs(self, activations: Tensor, logits: Tensor) -> Described:
        scored = logits.float().softmax(1) if self.probability else logits.float()
        if self.background is not None:
            # Not in place: a network returns inference tensors, which must not be changed outside inference mode.
            scored = scored.index_fill(1, torch.tensor(self.background, device=scored.device), -torch.inf)
        scores, classes = scored.max(dim=1)
        return Described(as_vectors(activations.float()).cpu().numpy(), scores.cpu().numpy(), classes.cpu().numpy())


def network_head(network: Network, feature_map: str, layer: str) -> fx.GraphModule:
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


def _copy_to_tensor(images: NDArray[np.uint8]) -> Tensor:
    return torch.tensor(images)  # a copy, as decoded images cannot be written to


# --- the choice --------------------------------------------------------------------------------------------------


def choose_regions(
    candidates: Iterable[Candidates], network: RegionNetwork, options: RegionOptions, pool: Executor
) -> Iterator[Regions]:
    """Chooses and describes the regions of images, in their order; the threads of `pool` make crops ahead."""
    if options.scoring == "crops":
        return (_keep_detections(found, options) for found in _describe_by_crops(candidates, network, options, pool))
    chosen = ((image, _keep_detections(_describe_by_map(image, network, options), options)) for image in candidates)
    if options.features == "roi_align":
        return (_describe_whole(found, image, network, options) for image, found in chosen)
    images = (replace(image, boxes=found.boxes) for image, found in chosen)
    return (_sort_regions(found) for found in _describe_by_crops(images, network, options, pool))


def choose_detected_regions(
    candidates: Iterable[Candidates], network: RegionNetwork, options: RegionOptions, pool: Executor
) -> Iterator[Regions]:
    """Chooses as `choose_regions`, but by what `detected` has; the network describes only the regions that stay."""
    chosen: deque[Detected] = deque()

    def choose_boxes() -> Iterator[Candidates]:
        for image in candidates:
            detected = image.detected or Detected(np.empty(0, np.float32), np.empty(0, np.int64))
            kept = non_maximum_suppression(image.boxes[1:], *detected, options.nms_threshold, options.detections)
            chosen.append(Detected(detected.scores[kept], detected.classes[kept]))
            yield replace(image, boxes=image.boxes[np.concatenate([[0], kept + 1])])

    for found in _describe_images(choose_boxes(), network, options, pool):
        detected, (vectors, scores, classes) = chosen.popleft(), found.described
        described = Described(vectors, np.append(scores[:1], detected.scores), np.append(classes[:1], detected.classes))
        yield found._replace(described=described)


def _describe_images(
    images: Iterable[Candidates], network: RegionNetwork, options: RegionOptions, pool: Executor
) -> Iterator[Regions]:
    if options.features == "roi_align":
        return (_describe_whole(_describe_by_map(image, network, options), image, network, options) for image in images)
    return _describe_by_crops(images, network, options, pool)


def _weigh_scores(image: Candidates, described: Described, options: RegionOptions) -> Regions:
    """The regions of an image, with class scores weighted by `area_exponent`."""
    areas = image.boxes[:, 2:].prod(axis=1)
    weights = (areas / areas[0]) ** options.area_exponent
    return Regions(image.image_id, image.boxes, described._replace(scores=described.scores * weights))


def _keep_detections(found: Regions, options: RegionOptions) -> Regions:
    """The whole image and the best detections among the others."""
    scores, classes = found.described.scores[1:], found.described.classes[1:]
    kept = non_maximum_suppression(found.boxes[1:], scores, classes, options.nms_threshold, options.detections)
    indices = np.concatenate([[0], kept + 1]).astype(np.int64)
    return Regions(found.image_id, found.boxes[indices], found.described.take(indices))


def _sort_regions(found: Regions) -> Regions:
    order = np.concatenate([[0], order_by_score(found.boxes[1:], found.described.scores[1:]) + 1]).astype(np.int64)
    return Regions(found.image_id, found.boxes[order], found.described.take(order))


# --- crops -------------------------------------------------------------------------------------------------------


def _describe_by_crops(
    images: Iterable[Candidates], network: RegionNetwork, options: RegionOptions, pool: Executor
) -> Iterator[Regions]:
    """Describes all boxes by crops, in batches of one size that mix images."""
    settings = network.network.settings
    size, batch_size = _crop_size(network, options), settings.batch_size
    fill = mean_colour(settings.mean)
    begun: deque[Candidates] = deque()

    def windows() -> Iterator[Window]:
        for image in images:
            begun.append(image)
            yield from (Window(image, number) for number in range(len(image.boxes)))

    def crop(image: Candidates, number: int) -> Pixels:
        if number == 0:
            return network.network.fit_image(image.pixels, size)
        return warp(image.pixels, image.boxes[number], size, options.context, fill)

    on_gpu = network.network.device.type == "cuda"

    def crops(batch: Sequence[Window]) -> tuple[int, Tensor]:
        # A GPU copies from pinned memory by itself, while the host goes on.
        made = torch.empty(batch_size, size, size, 3, dtype=torch.uint8, pin_memory=on_gpu)
        pixels = made.numpy()
        for place, (image, number) in enumerate(batch):
            pixels[place] = crop(image, number)
        pixels[len(batch) :] = pixels[0]
        return len(batch), made

    waiting: list[Described] = []
    for count, batch in prefetch_results(pool, crops, chunks(windows(), batch_size), depth=2):
        waiting.append(network.describe_crops(batch).take(slice(0, count)))
        while begun and sum(len(part.scores) for part in waiting) >= len(begun[0].boxes):
            image = begun.popleft()
            together = _join_descriptions(waiting)
            waiting = [together.take(slice(len(image.boxes), None))]
            yield _weigh_scores(image, together.take(slice(0, len(image.boxes))), options)


# --- shared convolution ------------------------------------------------------------------------------------------


def _describe_by_map(image: Candidates, network: RegionNetwork, options: RegionOptions) -> Regions:
    """Describes all boxes by one pass over the image alone, so that other images do not change the last bits."""
    pixels = image.pixels if options.map_size is None else resize_shorter_side(image.pixels, options.map_size)
    scale = pixels.shape[1] / image.pixels.shape[1], pixels.shape[0] / image.pixels.shape[0]
    boxes = (image.boxes * (*scale, *scale)).astype(np.float32)
    return _weigh_scores(image, network.describe_boxes(pixels, boxes, options.cells), options)


def _describe_whole(found: Regions, image: Candidates, network: RegionNetwork, options: RegionOptions) -> Regions:
    """Describes the whole image by a separate pass, whatever the size of the shared map."""
    crop = squeeze_image(image.pixels, _crop_size(network, options))
    whole, others = network.describe_crops(_copy_to_tensor(crop[None])), found.described.take(slice(1, None))
    return found._replace(described=_join_descriptions([whole, others]))


def _join_descriptions(parts: Sequence[Described]) -> Described:
    return Described(*map(np.concatenate, zip(*parts, strict=True)))


def _crop_size(network: RegionNetwork, options: RegionOptions) -> int:
    return options.crop_size or network.network.settings.size


def chunks(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yields the items in lists of `size`, the last one shorter."""
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk
