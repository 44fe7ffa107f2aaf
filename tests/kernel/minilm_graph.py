"""Write engram/kernel/minilm*.onnx: `python -m tests.kernel.minilm_graph`.

A file holds the operations of all-MiniLM-L6-v2, a six-layer BERT encoder (Devlin et al. 2018;
Wang et al. 2020), without weights: each weight is a range of bytes of the package's safetensors
file, in its (out, in) layout. The operations are the fused ones of onnxruntime (`com.microsoft`).

Input: `ids` (B, L) int32, rows filled up with zeros, and `lengths` (B,) int32, the tokens of each
row. Output: `states` (B, L, 384) float32, the last layer; rows past a text's length mean nothing.

The quantised graph multiplies whole numbers: weights are rounded to 7 bits for each column while
the session is made (onnxruntime folds operations on constants), states to 8 bits at each
multiplication. With 8 bits for both, processors without VNNI instructions would saturate, and the
vectors of two machines would differ.
"""

from __future__ import annotations

import json
from math import prod
from pathlib import Path
from typing import Any

from onnx import NodeProto, TensorProto, helper

from engram.kernel.minilm import DIMENSION, GRAPHS, NAME, QUANTISED_NAME, model_directory

N_LAYERS, N_HEADS, LAYER_NORM_EPSILON = 6, 12, 1e-12
QUERY_KEY_VALUE = ("query", "key", "value")
FUSED = "com.microsoft"
STANDARD = {"Sub", "Concat", "Transpose", "Abs", "ReduceMax", "Div", "QuantizeLinear"}
LARGEST = 63.0  # of a weight, rounded to 7 bits


class Graph:
    """The operations so far, and the weights that they use."""

    def __init__(self, weights: Path, *, is_quantised: bool) -> None:
        self._is_quantised = is_quantised
        with weights.open("rb") as file:
            header_bytes = int.from_bytes(file.read(8), "little")
            self._header = json.loads(file.read(header_bytes))
        self._base = 8 + header_bytes
        self._file = weights.name
        self.nodes: list[NodeProto] = []
        self.weights: dict[str, TensorProto] = {}

    def add(self, operation: str, inputs: list[str], output: str, **options: Any) -> str:
        """Add an operation, and return the name of its output."""
        domain = "" if operation in STANDARD else FUSED
        node = helper.make_node(operation, inputs, [output], output, domain=domain, **options)
        self.nodes.append(node)
        return output

    def weight(self, name: str) -> str:
        """Refer to a tensor of the safetensors file."""
        entry = self._header[name]
        assert entry["dtype"] == "F32", name
        start, end = entry["data_offsets"]
        assert end - start == 4 * prod(entry["shape"]), name
        tensor = TensorProto(
            name=name,
            data_type=TensorProto.FLOAT,
            dims=entry["shape"],
            data_location=TensorProto.EXTERNAL,
        )
        place = {"location": self._file, "offset": self._base + start, "length": end - start}
        for key, value in place.items():
            tensor.external_data.add(key=key, value=str(value))
        self.weights[name] = tensor
        return name

    def dense(self, name: str, states: str) -> str:
        """Multiply (B, L, in) by the transpose of an (out, in) weight."""
        weight = self.weight(f"{name}.weight")
        if self._is_quantised:
            return self.add("DynamicQuantizeMatMul", [states, *self._quantise(weight)], name)
        return self.add("FusedMatMul", [states, weight], name, transB=1)

    def _quantise(self, weight: str) -> tuple[str, str, str]:
        """Return an (out, in) weight as int8 (in, out), the scale and the zero of each column."""
        transposed = self.add("Transpose", [weight], f"{weight}.transposed", perm=[1, 0])
        absolute = self.add("Abs", [transposed], f"{weight}.absolute")
        largest = self.add("ReduceMax", [absolute], f"{weight}.largest", axes=[0], keepdims=0)
        limit = self._constant("limit", TensorProto.FLOAT, [LARGEST])
        scale = self.add("Div", [largest, limit], f"{weight}.scale")
        width = self.weights[weight].dims[0]
        zero = self._constant(f"zeros.{width}", TensorProto.INT8, [0] * width)
        inputs = [transposed, scale, zero]
        return self.add("QuantizeLinear", inputs, f"{weight}.int8", axis=1), scale, zero

    def _constant(self, name: str, kind: int, values: list[float]) -> str:
        self.weights.setdefault(name, helper.make_tensor(name, kind, [len(values)], values))
        return name

    def norm(self, name: str, states: str, residual: str, bias: str) -> str:
        """Normalise the sum of states, residual and bias."""
        inputs = [states, residual, *self.scale_and_shift(name), self.weight(bias)]
        return self.add("SkipLayerNormalization", inputs, name, epsilon=LAYER_NORM_EPSILON)

    def scale_and_shift(self, name: str) -> list[str]:
        """Refer to the two weights of a layer norm."""
        return [self.weight(f"{name}.weight"), self.weight(f"{name}.bias")]


def build(weights: Path, *, is_quantised: bool = False) -> bytes:
    """Return the graph for a safetensors file."""
    graph = Graph(weights, is_quantised=is_quantised)
    states = _embed(graph)
    for layer in range(N_LAYERS):
        states = _layer(graph, f"encoder.layer.{layer}", states)
    graph.nodes[-1].output[0] = "states"
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "all-MiniLM-L6-v2",
            [
                helper.make_tensor_value_info("ids", TensorProto.INT32, ["B", "L"]),
                helper.make_tensor_value_info("lengths", TensorProto.INT32, ["B"]),
            ],
            [helper.make_tensor_value_info("states", TensorProto.FLOAT, ["B", "L", DIMENSION])],
            initializer=list(graph.weights.values()),
        ),
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(FUSED, 1)],
        ir_version=8,
        producer_name="engram",
    )
    return bytes(model.SerializeToString(deterministic=True))


def _embed(graph: Graph) -> str:
    names = [f"embeddings.{kind}_embeddings.weight" for kind in ("word", "position", "token_type")]
    segments = graph.add("Sub", ["ids", "ids"], "segments")  # all texts are of the first kind
    inputs = ["ids", segments, *map(graph.weight, names)]
    inputs += graph.scale_and_shift("embeddings.LayerNorm")
    output = graph.add("EmbedLayerNormalization", inputs, "embedded", epsilon=LAYER_NORM_EPSILON)
    graph.nodes[-1].output.append("unused")  # the operation has two outputs
    return output


def _layer(graph: Graph, name: str, states: str) -> str:
    parts = [f"{name}.attention.self.{part}" for part in QUERY_KEY_VALUE]
    projected = [graph.dense(part, states) for part in parts]
    biases = [graph.weight(f"{part}.bias") for part in parts]
    bias = graph.add("Concat", biases, f"{name}.attention.bias", axis=0)
    attended = graph.add(
        "MultiHeadAttention",
        [*projected, bias, "lengths"],
        f"{name}.attention",
        num_heads=N_HEADS,
    )
    output = f"{name}.attention.output"
    mixed = graph.dense(f"{output}.dense", attended)
    states = graph.norm(f"{output}.LayerNorm", mixed, states, f"{output}.dense.bias")
    inner = graph.dense(f"{name}.intermediate.dense", states)
    inner_bias = graph.weight(f"{name}.intermediate.dense.bias")
    inner = graph.add("BiasGelu", [inner, inner_bias], f"{name}.intermediate")
    outer = graph.dense(f"{name}.output.dense", inner)
    return graph.norm(f"{name}.output.LayerNorm", outer, states, f"{name}.output.dense.bias")


if __name__ == "__main__":
    WEIGHTS = model_directory() / "model.safetensors"
    GRAPHS[NAME].write_bytes(build(WEIGHTS))
    GRAPHS[QUANTISED_NAME].write_bytes(build(WEIGHTS, is_quantised=True))
