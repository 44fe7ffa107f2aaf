"""Write engram/kernel/minilm.onnx: `python -m tests.kernel.minilm_graph`.

The file holds the operations of all-MiniLM-L6-v2, a six-layer BERT encoder (Devlin et al. 2018;
Wang et al. 2020), without weights: each weight is a range of bytes of the package's safetensors
file, in its (out, in) layout. The operations are the fused ones of onnxruntime (`com.microsoft`).

Input: `ids` (B, L) int32, rows filled up with zeros, and `lengths` (B,) int32, the tokens of each
row. Output: `states` (B, L, 384) float32, the last layer; rows past a text's length mean nothing.
"""

from __future__ import annotations

import json
from math import prod
from pathlib import Path
from typing import Any

from onnx import NodeProto, TensorProto, helper

from engram.kernel.minilm import DIMENSION, GRAPH, model_directory

N_LAYERS, N_HEADS, LAYER_NORM_EPSILON = 6, 12, 1e-12
QUERY_KEY_VALUE = ("query", "key", "value")
FUSED = "com.microsoft"


class Graph:
    """The operations so far, and the weights that they use."""

    def __init__(self, weights: Path) -> None:
        with weights.open("rb") as file:
            header_bytes = int.from_bytes(file.read(8), "little")
            self._header = json.loads(file.read(header_bytes))
        self._base = 8 + header_bytes
        self._file = weights.name
        self.nodes: list[NodeProto] = []
        self.weights: dict[str, TensorProto] = {}

    def add(self, operation: str, inputs: list[str], output: str, **options: Any) -> str:
        """Add an operation, and return the name of its output."""
        domain = "" if operation in {"Sub", "Concat"} else FUSED
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
        return self.add("FusedMatMul", [states, self.weight(f"{name}.weight")], name, transB=1)

    def norm(self, name: str, states: str, residual: str, bias: str) -> str:
        """Normalise the sum of states, residual and bias."""
        inputs = [states, residual, *self.scale_and_shift(name), self.weight(bias)]
        return self.add("SkipLayerNormalization", inputs, name, epsilon=LAYER_NORM_EPSILON)

    def scale_and_shift(self, name: str) -> list[str]:
        """Refer to the two weights of a layer norm."""
        return [self.weight(f"{name}.weight"), self.weight(f"{name}.bias")]


def build(weights: Path) -> bytes:
    """Return the graph for a safetensors file."""
    graph = Graph(weights)
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
    GRAPH.write_bytes(build(model_directory() / "model.safetensors"))
