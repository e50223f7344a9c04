"""A matrix of runs in worker processes, and comparisons made of one."""

from simnet.sweep.comparing import Comparison, compare
from simnet.sweep.matrix import matrix, parse_vary
from simnet.sweep.pool import Case, Outcome, sweep

__all__ = ["Case", "Comparison", "Outcome", "compare", "matrix", "parse_vary", "sweep"]
