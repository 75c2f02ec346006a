import cv2
import numpy as np
import pytest
import torch
from caffemodel import caffemodel, old_caffemodel, prototxt
from safetensors.torch import load_file

from densevse.vision.architectures.rcnn import RCNN
from densevse.vision.caffe import CONVOLUTIONS, convert_caffemodel, read_blobs
from snakeproof.errors import InputError

HIDDEN, CLASSES = 48, 20
by_opencv = pytest.mark.skipif(not hasattr(cv2.dnn, "readNetFromCaffe"), reason="OpenCV 5 reads no files of Caffe")
LAYERS = [*RCNN(HIDDEN, CLASSES).features._modules, "relu6", "relu7", "fc-rcnn"]


def random_layers() -> dict[str, tuple[str, list[np.ndarray]]]:
    random = np.random.default_rng(0)

    def blobs(*shape):
        scale = np.sqrt(2 / np.prod(shape[1:]))
        return [random.normal(0, scale, shape).astype(np.float32), random.normal(0, 0.1, shape[0]).astype(np.float32)]

    layers = {
        name: ("Convolution", blobs(channels, inputs // groups, kernel, kernel))
        for name, (inputs, channels, kernel, _, _, groups) in CONVOLUTIONS.items()
    }
    for name, shape in {"fc6": (HIDDEN, 9216), "fc7": (HIDDEN, HIDDEN), "fc-rcnn": (CLASSES, HIDDEN)}.items():
        layers[name] = ("InnerProduct", blobs(*shape))
    return layers


@pytest.fixture(scope="module")
def caffe_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("caffe") / "random.caffemodel"
    path.write_bytes(caffemodel(random_layers()))
    return path


BY_OPENCV = {
    "relu1": (25.95822, -27.47317, -21.32086),
    "pool1": (-40.45209, -35.13219, -120.9424),
    "norm1": (-22.67947, -23.12874, -63.63964),
    "relu2": (-17.11023, 104.2943, 55.69504),
    "pool2": (62.31168, -26.37019, -65.08168),
    "norm2": (29.54404, -21.53105, -43.8419),
    "relu3": (-26.61108, -80.51892, -26.59343),
    "relu4": (-37.67511, 70.67471, 11.56144),
    "relu5": (-13.92438, -15.76969, 10.89378),
    "pool5": (98.38023, -17.86529, -22.94835),
    "relu6": (0.4081965, -40.61365, -12.17506),
    "relu7": (-36.86395, -61.6565, -2.586667),
    "fc-rcnn": (49.88034, 110.8748, -71.03055),
}
"""Three `projections` of each layer's values as OpenCV 4.14.0 runs the Caffe file; OpenCV 5 reads no such files."""


@pytest.fixture
def outputs(caffe_file, tmp_path):
    """Each layer's values of an image, as the converted network computes them, and what Caffe's network is given."""
    convert_caffemodel(caffe_file, tmp_path / "rcnn.safetensors", HIDDEN, CLASSES)
    network = RCNN(HIDDEN, CLASSES).eval()
    network.load_state_dict(load_file(tmp_path / "rcnn.safetensors"))
    found = {}
    for part in (network.features, network.classifier):
        for name, layer in part.named_children():
            layer.register_forward_hook(lambda _m, _i, output, name=name: found.update({name: output.clone()}))
    rgb = np.random.default_rng(1).uniform(-120, 130, (1, 3, 227, 227)).astype(np.float32)
    with torch.no_grad():
        found["fc-rcnn"] = network(torch.from_numpy(rgb))
    # OpenCV's rectifiers work in place, so only what follows convolutions can be read.
    return {name: found[name].numpy() for name in LAYERS if not name.startswith("conv")}, rgb[:, ::-1]


def projections(values):
    """(3,) products of values with random vectors of about unit norm."""
    random = np.random.default_rng(2)
    return [float(random.normal(0, values.size**-0.5, values.size) @ values.ravel().astype(float)) for _ in range(3)]


def test_every_layer_is_as_opencv_ran_the_caffe_file(outputs):
    for name, values in outputs[0].items():
        scale = np.sqrt(np.mean(np.square(values, dtype=float)))
        np.testing.assert_allclose(projections(values), BY_OPENCV[name], rtol=0, atol=1e-4 * scale, err_msg=name)
        assert values.std() > 0, name


@by_opencv
def test_every_layer_is_as_opencv_runs_the_caffe_file(outputs, caffe_file):
    caffe = cv2.dnn.readNetFromCaffe(
        np.frombuffer(prototxt(HIDDEN, CLASSES).encode(), np.uint8), np.fromfile(caffe_file, np.uint8)
    )
    caffe.enableFusion(False)
    caffe.setInput(np.ascontiguousarray(outputs[1]))
    for name, values in outputs[0].items():
        expected = caffe.forward(name)
        np.testing.assert_allclose(values, expected, rtol=1e-3, atol=1e-4 * np.abs(expected).max(), err_msg=name)
        assert projections(expected) == pytest.approx(BY_OPENCV[name], rel=1e-5)


@by_opencv
@pytest.mark.parametrize("written", [caffemodel, old_caffemodel])
def test_blobs_are_as_opencv_reads_them(written, tmp_path):
    small = {name: layer for name, layer in random_layers().items() if name != "fc6"}
    small["fc6"] = ("InnerProduct", [np.arange(HIDDEN * 9216, dtype=np.float32).reshape(HIDDEN, 9216), np.ones(HIDDEN)])
    path = tmp_path / "net.caffemodel"
    path.write_bytes(written(small))
    network = cv2.dnn.readNetFromCaffe(
        np.frombuffer(prototxt(HIDDEN, CLASSES).encode(), np.uint8), np.fromfile(path, np.uint8)
    )
    blobs = read_blobs(path)
    assert blobs.keys() == small.keys()
    for name, of_layer in blobs.items():
        for number, blob in enumerate(of_layer):
            np.testing.assert_array_equal(blob.ravel(), network.getParam(name, number).ravel(), err_msg=name)


def test_the_published_sizes_are_the_default():
    network = RCNN()
    assert network.classifier.fc7.weight.shape == (4096, 4096)
    assert network.classifier.fc_rcnn.weight.shape == (200, 4096)
    assert "num_output: 4096" in prototxt()


def test_another_network_is_refused(tmp_path):
    layers = random_layers()
    layers["conv3"] = ("Convolution", [np.zeros((384, 256, 1, 1), np.float32), np.zeros(384, np.float32)])
    (tmp_path / "other.caffemodel").write_bytes(caffemodel(layers))
    with pytest.raises(InputError, match=r"other\.caffemodel.*conv3"):
        convert_caffemodel(tmp_path / "other.caffemodel", tmp_path / "out.safetensors", HIDDEN, CLASSES)
    assert not (tmp_path / "out.safetensors").exists()


@pytest.mark.parametrize("missing", ["conv1", "fc7"])
def test_a_missing_layer_is_refused(tmp_path, missing):
    layers = random_layers()
    del layers[missing]
    (tmp_path / "short.caffemodel").write_bytes(caffemodel(layers))
    with pytest.raises(InputError, match=r"short\.caffemodel"):
        convert_caffemodel(tmp_path / "short.caffemodel", tmp_path / "out.safetensors", HIDDEN, CLASSES)


@pytest.mark.parametrize("size", [0, 1, 9, 500_000, 1_000_000, -1])
def test_a_cut_file_is_refused(caffe_file, tmp_path, size):
    (tmp_path / "cut.caffemodel").write_bytes(caffe_file.read_bytes()[:size])
    with pytest.raises(InputError, match=r"cut\.caffemodel"):
        convert_caffemodel(tmp_path / "cut.caffemodel", tmp_path / "out.safetensors", HIDDEN, CLASSES)


@pytest.mark.parametrize("data", [b"<html>not found</html>", b"PK\x03\x04" + bytes(100), b"\xff" * 50, b"\xa0\x06\x01"])
def test_another_kind_of_file_is_refused(tmp_path, data):
    (tmp_path / "page.caffemodel").write_bytes(data)
    with pytest.raises(InputError, match=r"page\.caffemodel: not "):
        convert_caffemodel(tmp_path / "page.caffemodel", tmp_path / "out.safetensors", HIDDEN, CLASSES)
