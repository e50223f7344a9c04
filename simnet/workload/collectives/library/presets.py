"""All constants of the communication library model, each of a GPU generation, a protocol, a link class or a version.

None belongs to a machine or a measured table. Sources: [fit] fitted over all measured tables of nccl-tests together
(`simnet validate nccl`); [NCCL-TUNE] what NCCL 2.30.7 assumes itself (src/graph/tuning.cc, src/include/device.h).
"""

from collections.abc import Iterator

from simnet.params import Params

_US, _KIB, _G = 1e-6, 2.0**10, 1e9


class Generation(Params):
    """One generation of GPUs.

    launch [s]: of a collective's kernel, with what host and GPU do before and after it. step [s]: a rank's own part of
    a step (poll, reduce, store); the wire's part is the topology's latency. nvlink: part of NVLink's nominal rate that
    kernels reach. nvls: part of it that they reach through switches that reduce; 0: these switches do not. channels:
    thread blocks of a collective at most.
    """

    launch: float
    step: float
    nvlink: float
    nvls: float = 0.0
    channels: float = 16


class Protocol(Params):
    """One protocol: how ranks tell one another that data is there.

    launch [s]: added to that of the generation. step [s]: added to a rank's part of a step. hop [s]: further added to
    a step between servers. nvlink, pcie, net: part of what kernels reach at best over links of the class. turn: part
    of a step for which a rank only receives at the end. piece [bytes]: of one channel's pipeline.
    """

    launch: float
    step: float
    hop: float
    nvlink: float
    pcie: float
    net: float
    turn: float
    piece: float


class Version(Params):
    """What sets one version of the library apart.

    launch [s]: added to that of the generation. ll128, nvls, nvls_tree, pat: what it has.
    """

    launch: float = 0.0
    ll128: bool = True
    nvls: bool = True
    nvls_tree: bool = True
    pat: bool = True


class Constants(Params):
    """Everything that the model takes as known, as one object, so that a fit can vary it.

    pcie, net: part of the nominal rate that PCIe, and NICs with the fabric, reach. nvls_launch [s]: added where
    switches reduce. pair_step [s]: of a rank for every partner of an all-to-all; pair_rate [bytes/s]: most of a
    pair of ranks with LL; own_copy: what the copy of a rank's own part costs, as a part of sending as much.
    fewest_pieces: into which a pipeline cuts what is short.
    """

    generations: dict[str, Generation]
    protocols: dict[str, Protocol]
    versions: dict[str, Version]
    pcie: float
    net: float
    nvls_launch: float
    pair_step: float
    pair_rate: float
    own_copy: float
    fewest_pieces: float

    def count(self) -> int:
        """How many numbers the model has."""
        return sum(1 for _ in _numbers(self.model_dump()))


def _numbers(value) -> Iterator[float]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _numbers(item)
    elif not isinstance(value, bool):
        yield value


GENERATION_OF = {
    "v100": "volta", "rtx_2080": "turing", "a100": "ampere", "a10": "ampere", "a30": "ampere", "a40": "ampere",
    "rtx_3090": "ampere", "l40": "ada", "l4": "ada", "rtx_4090": "ada", "h100": "hopper", "h200": "hopper",
    "h20": "hopper", "b200": "blackwell", "b300": "blackwell", "gb200": "blackwell", "rtx_pro_6000": "blackwell",
    "rtx_5090": "blackwell",
}  # fmt: skip
"""Generation by how the name of a GPU model begins; the longest beginning counts."""

DEFAULT_GENERATION = "hopper"

CONSTANTS = Constants(
    generations={
        "volta": Generation(launch=8 * _US, step=0.4 * _US, nvlink=0.9, channels=12),
        "turing": Generation(launch=8 * _US, step=0.4 * _US, nvlink=0.9, channels=12),
        "ampere": Generation(launch=8.1 * _US, step=0.4 * _US, nvlink=0.765, channels=24),
        "ada": Generation(launch=3.6 * _US, step=0.35 * _US, nvlink=0.8, channels=16),
        "hopper": Generation(launch=4.4 * _US, step=0.35 * _US, nvlink=0.80, nvls=0.61, channels=24),
        "blackwell": Generation(launch=7.6 * _US, step=0.74 * _US, nvlink=0.82, nvls=0.53, channels=32),
    },
    protocols={
        "ll": Protocol(
            launch=0, step=0, hop=2 * _US, nvlink=0.028, pcie=0.35, net=0.25, turn=0, piece=16 * _KIB
        ),
        "ll128": Protocol(
            launch=1 * _US, step=0.2 * _US, hop=3 * _US, nvlink=0.37, pcie=0.5, net=0.9, turn=0,
            piece=64 * _KIB,
        ),
        "simple": Protocol(
            launch=12 * _US, step=2.5 * _US, hop=6 * _US, nvlink=1, pcie=1, net=1, turn=0.45,
            piece=512 * _KIB,
        ),
    },
    versions={"nccl": Version(), "nccl_2021": Version(launch=5 * _US, ll128=False, nvls=False, pat=False)},
    pcie=0.75,
    net=0.97,
    nvls_launch=15 * _US,
    pair_step=0.35 * _US,
    pair_rate=6 * _G,
    own_copy=0.3,
    fewest_pieces=4,
)  # fmt: skip
"""The constants as they are used."""
