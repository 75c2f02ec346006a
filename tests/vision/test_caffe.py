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


@by_opencv
def test_every_layer_is_as_opencv_runs_the_caffe_file(caffe_file, tmp_path):
    convert_caffemodel(caffe_file, tmp_path / "rcnn.safetensors", HIDDEN, CLASSES)
    network = RCNN(HIDDEN, CLASSES).eval()
    network.load_state_dict(load_file(tmp_path / "rcnn.safetensors"))
    outputs = {}
    for part in (network.features, network.classifier):
        for name, layer in part.named_children():
            layer.register_forward_hook(lambda _m, _i, output, name=name: outputs.update({name: output.clone()}))
    rgb = np.random.default_rng(1).uniform(-120, 130, (1, 3, 227, 227)).astype(np.float32)
    with torch.no_grad():
        outputs["fc-rcnn"] = network(torch.from_numpy(rgb))

    caffe = cv2.dnn.readNetFromCaffe(
        np.frombuffer(prototxt(HIDDEN, CLASSES).encode(), np.uint8), np.fromfile(caffe_file, np.uint8)
    )
    caffe.enableFusion(False)
    caffe.setInput(np.ascontiguousarray(rgb[:, ::-1]))
    for name in LAYERS:
        if name.startswith("conv"):  # OpenCV's rectifiers work in place, so only what follows them can be read
            continue
        expected = caffe.forward(name)
        np.testing.assert_allclose(outputs[name], expected, rtol=1e-3, atol=1e-4 * np.abs(expected).max(), err_msg=name)
        assert expected.std() > 0, name


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
