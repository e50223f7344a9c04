"""Number formats: bytes per element, for weights, activations and gradients alike."""

from simnet.params import row_name

ELEMENT_SIZE: dict[str, int] = {"fp32": 4, "tf32": 4, "fp16": 2, "bf16": 2, "fp8": 1}
"""Bytes of one element; tf32 computes on fp32 data."""

Precision = row_name(ELEMENT_SIZE)
