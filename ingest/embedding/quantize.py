"""ONNX weights -> an int8 graph of the same model, built once on this machine and cached.

The installed file stores int8 weights but computes in float32. Its weights are converted back to
float, its guards against NaN are removed (every text has tokens, so NaN cannot occur), and the
graph is quantised per channel. The same file always gives the same bytes.

Run as ``python -m ingest.embedding.quantize WEIGHTS TARGET`` by the embedder.
"""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic


def build_int8(weights: Path, target: Path) -> None:
    """Write the int8 graph of ``weights`` to ``target``."""
    model = onnx.load(weights)
    _fold_weights(model.graph)
    _drop_nan_guards(model.graph)
    del model.graph.value_info[:]
    quantize_dynamic(
        model,
        target,
        per_channel=True,
        weight_type=QuantType.QInt8,
        op_types_to_quantize=["MatMul", "Gather"],
    )


def _fold_weights(graph: onnx.GraphProto) -> None:
    """Replace ``Cast(int8 weight) * scale`` by the float weight that it computes."""
    stored = {tensor.name: tensor for tensor in graph.initializer}
    casts = {
        node.output[0]: node
        for node in graph.node
        if node.op_type == "Cast" and node.input[0] in stored
    }
    for scaling in [n for n in graph.node if n.op_type == "Mul" and n.input[0] in casts]:
        cast = casts[scaling.input[0]]
        weight, scale = stored[cast.input[0]], stored[scaling.input[1]]
        values = numpy_helper.to_array(weight).astype(np.float32) * numpy_helper.to_array(scale)
        graph.initializer.append(numpy_helper.from_array(values, scaling.output[0]))
        for tensor in (weight, scale):
            graph.initializer.remove(tensor)
        for node in (cast, scaling):
            graph.node.remove(node)


def _drop_nan_guards(graph: onnx.GraphProto) -> None:
    """Remove ``Where(IsNaN(x), 0, x)``."""
    guards = {node.output[0]: node for node in graph.node if node.op_type == "IsNaN"}
    for choice in [n for n in graph.node if n.op_type == "Where" and n.input[0] in guards]:
        for node in graph.node:
            for position, name in enumerate(node.input):
                if name == choice.output[0]:
                    node.input[position] = choice.input[2]
        graph.node.remove(guards[choice.input[0]])
        graph.node.remove(choice)


if __name__ == "__main__":
    build_int8(Path(sys.argv[1]), Path(sys.argv[2]))
