"""What training costs besides the forward pass."""

BACKWARD = 2
"""Work of the backward pass, times that of the forward pass: gradients of inputs and weights (arXiv 2104.04473)."""


def optimizer_bytes(parameters: float, element: int) -> float:
    """Bytes that a step of Adam moves: it reads the gradient, reads and writes weight and two moments in fp32.

    Below fp32 that weight is a master copy, from which the working weight is written (arXiv 1910.02054, section 3.1).
    """
    working = element if element < 4 else 0
    return float(parameters * (element + 2 * 12 + working))


def state_bytes(parameters: float, element: int) -> float:
    """Bytes that Adam's training keeps: weight and gradient, two moments in fp32 and, below fp32, a master copy."""
    master = 4 if element < 4 else 0
    return float(parameters * (2 * element + 8 + master))
