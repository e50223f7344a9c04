"""All constants of the communication library model: of a GPU generation, a protocol, a class of link or a version.

None belongs to a machine or a measured table. Those without another source are fitted over all measured tables of
nccl-tests together (`simnet validate nccl`), or stay at a first guess where nothing measured tells of them. [NCCL-TUNE]
NVIDIA/nccl at 5067397c (2.30.7), src/graph/tuning.cc and src/include/device.h; [NT29], [NT309] NVIDIA/nccl-tests issues
29 and 309; [MLE-NET] stas00/ml-engineering, network; [AWS-NT] aws-samples/awsome-distributed-training, nccl-tests.
"""

from collections.abc import Iterator

from simnet.params import Params

_US, _KIB, _G = 1e-6, 2.0**10, 1e9


class Generation(Params):
    """One generation of GPUs.

    launch [s]: of a collective's kernel, with what host and GPU do before and after it. step [s]: a rank's own part of
    a step (poll, reduce, store); the wire's part is the topology's latency. nvlink: part of NVLink's nominal rate that
    kernels reach. nvls: part of it that they reach through switches that reduce, 0 where these do not; nvls_ranks: the
    fewest of a server for which the library has them do so. last_block [bytes/s]: at which a rank stores the last block
    of a ring, while it sends nothing. own_copy: what the copy of a rank's own part of an all-to-all costs, as a part of
    sending as much. channel [bytes/s]: at which one channel (thread block) moves data, as far as the count of channels
    that NCCL opens tells.
    """

    launch: float
    step: float
    nvlink: float
    last_block: float
    own_copy: float
    nvls: float = 0.0
    nvls_ranks: int = 0
    channel: float = 16e9


class Protocol(Params):
    """One protocol: how ranks tell one another that data is there.

    launch [s]: added to that of the generation. step [s]: added to a rank's part of a step. hop [s]: added to a step
    between servers; post [s]: of it, a rank's part that holds up its next message to the same NIC. nvlink, pcie, net:
    part of what kernels reach at best over links of the class. piece [bytes]: into which a channel cuts long messages
    in a pipeline; smallest [bytes]: of the pieces of short ones. whole: blocks go on when they have come as a whole.
    """

    launch: float
    step: float
    hop: float
    post: float
    nvlink: float
    pcie: float
    net: float
    piece: float
    smallest: float
    whole: bool = False


class Fabric(Params):
    """One kind of link between servers. reached: part of the nominal rate of NICs; hop: multiple of a protocol's."""

    reached: float
    hop: float


class Version(Params):
    """What sets one version of the library apart.

    pair_step [s]: added for every partner of an all-to-all. ll128, nvls, nvls_tree, pat: what it has.
    """

    pair_step: float = 0.0
    ll128: bool = True
    nvls: bool = True
    nvls_tree: bool = True
    pat: bool = True


class Constants(Params):
    """Everything that the model takes as known, as one object, so that a fit can vary it.

    fabrics: by kind of link. net_channels: channels of a collective between servers, each of net_channel [bytes/s].
    pcie: part of the nominal rate that PCIe reaches. Of copies over PCIe [bytes/s]: host into one socket, between from
    one socket to another, staged through host memory, over a PCIe link. nvls_launch [s]: added where switches reduce.
    tree, pat: part of the rate of rings that trees and PAT reach over NICs. pair_step [s]: of a rank for every partner
    of an all-to-all; pair_rate [bytes/s]: most of a pair of ranks with LL. fill: pieces for every stage of a pipeline,
    as long as they do not get too small. thread_launch [s]: of a kernel, by a host thread that launches on several.
    """

    generations: dict[str, Generation]
    protocols: dict[str, Protocol]
    fabrics: dict[str, Fabric]
    versions: dict[str, Version]
    net_channels: int
    net_channel: float
    pcie: float
    host: float
    between: float
    staged: float
    nvls_launch: float
    tree: float
    pat: float
    pair_step: float
    pair_rate: float
    fill: float
    thread_launch: float

    def count(self) -> int:
        """How many numbers the model has, those of defaults left out."""
        return sum(1 for _ in _numbers(self.model_dump(exclude_defaults=True)))


def _numbers(value) -> Iterator[float]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _numbers(item)
    elif not isinstance(value, bool):
        yield value


GENERATION_OF = {
    "v100": "volta", "rtx_2080": "turing", "a100": "ampere", "a30": "ampere", "a10": "ampere_rtx", "a40": "ampere_rtx",
    "a6000": "ampere_rtx", "rtx_3090": "ampere_rtx", "l40": "ada", "l4": "ada", "rtx_4090": "ada", "h100": "hopper",
    "h200": "hopper", "h20": "hopper", "b200": "blackwell", "b300": "blackwell", "gb200": "blackwell",
    "gb300": "blackwell", "rtx_pro_6000": "blackwell_rtx", "rtx_5090": "blackwell_rtx",
}  # fmt: skip
"""Generation by how the name of a GPU model begins; the longest beginning counts. Graphics cards differ from GPUs for
servers in launch and steps, and count as generations of their own."""

DEFAULT_GENERATION = "hopper"
"""Of GPUs whose model is not known."""

CONSTANTS = Constants(
    generations={
        "volta": Generation(
            launch=7.62 * _US, step=0.407 * _US, nvlink=0.923, channel=12.5 * _G,
            last_block=515 * _G, own_copy=0.493,
        ),
        "turing": Generation(
            launch=11.3 * _US, step=0.4 * _US, nvlink=0.455, channel=12.5 * _G,
            last_block=403 * _G, own_copy=0.493,
        ),
        "ampere": Generation(
            launch=9.83 * _US, step=0.319 * _US, nvlink=0.802, channel=12.5 * _G,
            last_block=410 * _G, own_copy=0.605,
        ),
        "ampere_rtx": Generation(
            launch=7.03 * _US, step=0.383 * _US, nvlink=0.9, channel=12.5 * _G,
            last_block=383 * _G, own_copy=0.493,
        ),
        "ada": Generation(
            launch=5.32 * _US, step=0.347 * _US, nvlink=0.758, channel=12.5 * _G,
            last_block=98.9 * _G, own_copy=0.082,
        ),
        # NVLS from 5 ranks on Hopper and from 6 on Blackwell [MLE-NET]
        "hopper": Generation(
            launch=4.85 * _US, step=0.262 * _US, nvlink=0.82, channel=18.8 * _G,
            last_block=799 * _G, own_copy=0.674, nvls=0.606, nvls_ranks=5,
        ),
        "blackwell": Generation(
            launch=8.18 * _US, step=0.666 * _US, nvlink=0.775, channel=28 * _G,
            last_block=1220 * _G, own_copy=1.14, nvls=0.477, nvls_ranks=6,
        ),
        "blackwell_rtx": Generation(
            launch=4.72 * _US, step=0.396 * _US, nvlink=0.759, channel=12.5 * _G,
            last_block=105 * _G, own_copy=0.745,
        ),
    },
    # a hop of LL between servers takes 5 us with the wire, 1 us of it to post [NCCL-TUNE]
    protocols={
        "ll": Protocol(
            launch=0, step=0, hop=2.4 * _US, post=1 * _US,
            nvlink=0.0558, pcie=0.478, net=0.249, piece=8 * _KIB, smallest=8 * _KIB,
        ),
        "ll128": Protocol(
            launch=0.84 * _US, step=0.0526 * _US, hop=8.99 * _US, post=3.78 * _US,
            nvlink=0.386, pcie=0.5, net=0.938, piece=16 * _KIB, smallest=16 * _KIB,
        ),
        "simple": Protocol(
            launch=4.42 * _US, step=4.05 * _US, hop=6.47 * _US, post=4.2 * _US,
            nvlink=1, pcie=1, net=1, piece=512 * _KIB, smallest=32 * _KIB, whole=True,
        ),
    },
    # rings on NDR reach 393 of 400 GB/s, a NIC of 100 Gb/s 12.2 GB/s, EFA 193.7 of 200 Gb/s [NT309][NT29][MLE-NET]
    fabrics={
        "ib": Fabric(reached=0.98, hop=1),
        "ethernet": Fabric(reached=0.976, hop=1.73),
        "efa": Fabric(reached=0.968, hop=28),
    },
    versions={
        "nccl": Version(),
        "nccl_2021": Version(pair_step=10.2 * _US, ll128=False, nvls=False, nvls_tree=False, pat=False),
    },
    net_channels=16,
    net_channel=20.5 * _G,
    pcie=0.744,
    host=103 * _G,
    between=41.3 * _G,
    staged=4.1 * _G,
    nvls_launch=41.8 * _US,
    # two servers with 50 GB/s of EFA each all-reduce 41.8 GB/s [AWS-NT]
    tree=0.86,
    pat=0.75,  # [NCCL-TUNE]
    pair_step=0.359 * _US,
    pair_rate=6.48 * _G,
    fill=2,
    thread_launch=4.49 * _US,
)  # fmt: skip
"""The constants as they are used."""
