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
    thread blocks of a collective inside a server.
    """

    launch: float
    step: float
    nvlink: float
    nvls: float = 0.0
    channels: int = 24


class Protocol(Params):
    """One protocol: how ranks tell one another that data is there.

    launch [s]: added to that of the generation. step: of a rank, as a multiple of the generation's. hop [s]: what a hop
    between servers adds. nvlink, pcie, net: part of what kernels reach at best over links of the class. turn: part of a
    step for which a rank only receives at the end. pair_rate [bytes/s]: most of two ranks of an all-to-all; 0: any.
    """

    launch: float
    step: float
    hop: float
    nvlink: float
    pcie: float
    net: float
    turn: float = 0.0
    pair_rate: float = 0.0


class Fabric(Params):
    """One kind of link between servers. reached: part of the nominal rate of NICs; hop: multiple of a protocol's."""

    reached: float
    hop: float


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

    fabrics: by kind of link. net_channels: thread blocks of a collective between servers, each of channel_rate
    [bytes/s]. pcie: part of the nominal rate that PCIe reaches; host_rate [bytes/s]: most that passes a processor from
    and to its PCIe; staged [bytes/s]: through host memory, on a PCIe link. tree: part of the rate that trees reach.
    piece [bytes]: of a pipeline. nvls_launch [s]: added where switches reduce. pair_step [s]: of a rank for every
    partner of an all-to-all; own_copy: what the copy of a rank's own part costs, as a part of sending as much.
    thread_launch [s]: of a kernel by a host thread that launches on several GPUs in turn.
    """

    generations: dict[str, Generation]
    protocols: dict[str, Protocol]
    fabrics: dict[str, Fabric]
    versions: dict[str, Version]
    net_channels: int
    channel_rate: float
    pcie: float
    host_rate: float
    staged: float
    tree: float
    piece: float
    nvls_launch: float
    pair_step: float
    own_copy: float
    thread_launch: float

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
    "v100": "volta", "rtx_2080": "turing", "a100": "ampere", "a30": "ampere", "a10": "ampere_rtx", "a40": "ampere_rtx",
    "rtx_3090": "ampere_rtx", "l40": "ada", "l4": "ada", "rtx_4090": "ada", "h100": "hopper", "h200": "hopper",
    "h20": "hopper", "b200": "blackwell", "b300": "blackwell", "gb200": "blackwell", "rtx_pro_6000": "blackwell_rtx",
    "rtx_5090": "blackwell_rtx",
}  # fmt: skip
"""Generation by how the name of a GPU model begins; the longest beginning counts. Generations of graphics cards differ
from those of the same name for servers in launch and step."""

DEFAULT_GENERATION = "hopper"

CONSTANTS = Constants(
    generations={
        "volta": Generation(launch=7.39 * _US, step=0.511 * _US, nvlink=0.98, channels=12),
        "turing": Generation(launch=11.6 * _US, step=0.477 * _US, nvlink=0.622, channels=12),
        "ampere": Generation(launch=8.61 * _US, step=0.731 * _US, nvlink=0.788, channels=24),
        "ampere_rtx": Generation(launch=6.92 * _US, step=0.398 * _US, nvlink=0.98, channels=16),
        "ada": Generation(launch=5.19 * _US, step=0.329 * _US, nvlink=0.809, channels=16),
        "hopper": Generation(launch=4.86 * _US, step=0.212 * _US, nvlink=0.809, nvls=0.610, channels=24),
        "blackwell": Generation(launch=8.47 * _US, step=0.417 * _US, nvlink=0.714, nvls=0.526, channels=32),
        "blackwell_rtx": Generation(launch=4.79 * _US, step=0.317 * _US, nvlink=0.808, channels=16),
    },
    protocols={
        "ll": Protocol(
            launch=0, step=1.41, hop=5.72 * _US, nvlink=0.144, pcie=0.343, net=0.511, pair_rate=8.69 * _G
        ),
        "ll128": Protocol(launch=1.96 * _US, step=0.643, hop=8.21 * _US, nvlink=0.431, pcie=0.5, net=0.867),
        "simple": Protocol(launch=5.37 * _US, step=9.29, hop=18.8 * _US, nvlink=1, pcie=1, net=1, turn=0.444),
    },
    fabrics={
        "ib": Fabric(reached=0.98, hop=1),
        "ethernet": Fabric(reached=0.672, hop=0.729),
        "efa": Fabric(reached=0.98, hop=10.3),
    },
    versions={"nccl": Version(), "nccl_2021": Version(ll128=False, nvls=False, nvls_tree=False, pat=False)},
    net_channels=16,
    channel_rate=20.5 * _G,
    pcie=0.745,
    host_rate=122 * _G,
    staged=4.02 * _G,
    tree=0.849,
    piece=134 * _KIB,
    nvls_launch=130 * _US,
    pair_step=0.38 * _US,
    own_copy=0.79,
    thread_launch=4.49 * _US,
)  # fmt: skip
"""The constants as they are used."""
