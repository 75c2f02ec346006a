#!/usr/bin/env bash
# Guess, written before the run: "Resize with antialias=1 gives Pillow's pixels; exclude_outside changes nothing of
# that."
# Seen on 2026-11-29: inside they are Pillow's to the bit (8-bit, linear and cubic with -0.5), but at the border they
# differ by up to 10 of 255, as ONNX repeats the outermost pixels and Pillow leaves out what lies outside. With
# exclude_outside=1 all pixels are equal.
# Hurts: who puts the resizing of a network that was trained with Pillow into its graph.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  onnxruntime==1.32.0 onnx==1.23.2 pillow==13.0.0 numpy==2.4.6
cd "$folder"
venv/bin/python - <<'PYTHON'
import numpy as np
import onnx
import onnxruntime as ort
import PIL
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

print("onnxruntime", ort.__version__, "onnx", onnx.__version__, "Pillow", PIL.__version__)
picture = np.random.default_rng(0).integers(0, 256, (97, 131, 3), np.uint8)
for mode, pillow, more in (("linear", Image.BILINEAR, {}), ("cubic", Image.BICUBIC, {"cubic_coeff_a": -0.5})):
    theirs = np.asarray(Image.fromarray(picture).resize((40, 32), pillow)).astype(int)
    for exclude in (0, 1):
        attributes = {"mode": mode, "antialias": 1, "exclude_outside": exclude, **more}
        graph = helper.make_graph(
            [helper.make_node("Resize", ["x", "", "", "sizes"], ["y"], **attributes)],
            "graph",
            [helper.make_tensor_value_info("x", TensorProto.UINT8, [1, 3, 97, 131])],
            [helper.make_tensor_value_info("y", TensorProto.UINT8, None)],
            [numpy_helper.from_array(np.array([1, 3, 32, 40]), "sizes")],
        )
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
        session = ort.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
        ours = session.run(None, {"x": picture.transpose(2, 0, 1)[None]})[0][0].transpose(1, 2, 0)
        difference = np.abs(ours - theirs)
        inside = difference[2:-2, 2:-2].max()
        print(mode, "exclude_outside", exclude, "largest difference", difference.max(), "inside", inside)
        assert inside == 0 and (difference.max() > 5) == (exclude == 0)
        assert exclude == 0 or difference.max() == 0
PYTHON
