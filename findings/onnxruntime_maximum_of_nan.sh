#!/usr/bin/env bash
# Guess, written before the run: "ReduceMax, ArgMax and TopK of scores with a NaN give what onnx.reference gives: the
# NaN, wherever it stands."
# Seen on 2026-11-29: of [1, 3, NaN, 2], TopK gives NaN; ReduceMax gives 3, and ArgMax 1. Of [NaN, 1, 3, 2], ReduceMax
# gives NaN, and ArgMax 0. onnx.reference has the NaN in all.
# Hurts: who looks for unreadable images by a NaN in the best score of a graph: it is seen only if the NaN stands
# first.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  onnxruntime==1.32.0 onnx==1.23.2 numpy==2.4.6
cd "$folder"
venv/bin/python - <<'PYTHON'
import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator


def model(operator, inputs, outputs, **attributes):
    nodes = [helper.make_node(operator, inputs, [name for name, _ in outputs], **attributes)]
    infos = [helper.make_tensor_value_info(name, kind, None) for name, kind in outputs]
    given = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])]
    first = [numpy_helper.from_array(np.array([1]), name) for name in inputs[1:]]
    graph = helper.make_graph(nodes, "graph", given, infos, first)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


print("onnxruntime", ort.__version__, "onnx", onnx.__version__)
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
models = {
    "ReduceMax": model("ReduceMax", ["x"], [("y", FLOAT)], keepdims=0),
    "ArgMax": model("ArgMax", ["x"], [("y", INT64)], axis=0, keepdims=0),
    "TopK": model("TopK", ["x", "k"], [("y", FLOAT), ("i", INT64)]),
}
found = {}
for name, made in models.items():
    session = ort.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    for place in (0, 2):
        scores = np.insert(np.array([1, 3, 2], np.float32), place, np.nan)
        both = session.run(None, {"x": scores}), ReferenceEvaluator(made).run(None, {"x": scores})
        found[name, place] = [float(np.ravel(values[0])[0]) for values in both]
        print(name, scores, "onnxruntime, onnx.reference:", found[name, place])
assert np.isnan(found["TopK", 2]).all() and np.isnan(found["ReduceMax", 0]).all() and found["ArgMax", 0] == [0, 0]
assert found["ReduceMax", 2][0] == 3 and np.isnan(found["ReduceMax", 2][1]) and found["ArgMax", 2] == [1, 2]
PYTHON
