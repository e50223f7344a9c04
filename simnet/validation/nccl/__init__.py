"""NCCL: how long collectives take on real machines, table by table as people measured them with nccl-tests.

Times are those of a blocking collective, out of place; a table is a collective on a machine among a number of ranks.
"""

from simnet.validation.nccl.replaying import AIMS, LARGE, PEAK, SMALL, cases

__all__ = ["AIMS", "LARGE", "PEAK", "SMALL", "about", "cases"]


def about() -> str:
    """How many numbers the model has for all that."""
    from simnet.validation.nccl.fitting import count  # which needs the whole library

    return (
        f"The model of the library has {count()} constants that are fitted to these tables, all at once. Each belongs "
        "to a generation of GPUs, a protocol, a kind of link or a version of the library, none to a machine or table. "
        "Suite nccl_unseen tells how they do on a machine that is in no table."
    )
