"""R-CNN's network for the 200 classes of ILSVRC13 (Girshick et al., CVPR 2014): Caffe's AlexNet with SVMs."""

from collections import OrderedDict
from collections.abc import Mapping

from torch import Tensor, nn


class RCNN(nn.Module):
    """CaffeNet (grouped convolutions, local response normalisation after pooling) with a linear layer of SVMs.

    Input: (N, 3, 227, 227) in RGB, 0 to 255 minus the mean. Output: (N, classes) SVM scores, not probabilities.
    The feature of HM-LSTM and DeFrag is `relu7`, fc7 after its rectifier. Attributes are named as torchvision's.
    """

    def __init__(self, hidden: int = 4096, classes: int = 200) -> None:
        super().__init__()
        self.features = nn.Sequential(
            OrderedDict(
                conv1=nn.Conv2d(3, 96, 11, stride=4),
                relu1=nn.ReLU(),
                pool1=_pool(),
                norm1=_normalise(),
                conv2=nn.Conv2d(96, 256, 5, padding=2, groups=2),
                relu2=nn.ReLU(),
                pool2=_pool(),
                norm2=_normalise(),
                conv3=nn.Conv2d(256, 384, 3, padding=1),
                relu3=nn.ReLU(),
                conv4=nn.Conv2d(384, 384, 3, padding=1, groups=2),
                relu4=nn.ReLU(),
                conv5=nn.Conv2d(384, 256, 3, padding=1, groups=2),
                relu5=nn.ReLU(),
                pool5=_pool(),
            )
        )
        self.avgpool = nn.Identity()
        self.classifier = nn.Sequential(
            OrderedDict(
                fc6=nn.Linear(256 * 6 * 6, hidden),
                relu6=nn.ReLU(),
                drop6=nn.Dropout(),
                fc7=nn.Linear(hidden, hidden),
                relu7=nn.ReLU(),
                drop7=nn.Dropout(),
                fc_rcnn=nn.Linear(hidden, classes),
            )
        )

    def forward(self, x: Tensor) -> Tensor:
        """(N, 3, 227, 227) to (N, classes)."""
        scores: Tensor = self.classifier(self.avgpool(self.features(x)).flatten(1))
        return scores


def untrained(architecture: str, state: Mapping[str, Tensor]) -> RCNN:
    """The network with random weights; it always has 200 classes."""
    return RCNN()


def _pool() -> nn.MaxPool2d:
    return nn.MaxPool2d(3, stride=2, ceil_mode=True)  # Caffe rounds sizes up


def _normalise() -> nn.LocalResponseNorm:
    return nn.LocalResponseNorm(5, alpha=1e-4, beta=0.75, k=1.0)
