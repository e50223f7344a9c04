"""What `nvidia-smi topo -m` prints, as a server: PCIe switches, sockets, NVLinks and NICs.

A distance over PCIe says what two devices have above them: one switch (PIX), several (PXB), a host bridge of their NUMA
node (PHB, NODE), or a link between NUMA nodes (SYS). simnet does not tell the host bridges of one NUMA node apart.
"""

from itertools import combinations
from pathlib import Path

from simnet.hardware import GPUS, LINKS
from simnet.topology.builders.nvswitch_server import MERGED
from simnet.topology.builders.server import add_sockets, connect_pcie
from simnet.topology.importers import nvidia_smi_matrix
from simnet.topology.importers.nvidia_smi_matrix import PCIE_WORDS, Matrix
from simnet.topology.topology import Topology
from simnet.units import RATE

_PIX, _PXB, _PHB, _NODE, _SYS = range(len(PCIE_WORDS))
_MOST_NVLINKS = 18  # of any GPU
# The NVLinks that a GPU has in all betray it where its model is not given
_NVLINK_OF_COUNT = {1: "nvlink2", 2: "nvlink2", 4: "nvlink3_geforce", 6: "nvlink2", 12: "nvlink3", 18: "nvlink4"}
_PCIE_OF_NVLINK = {"nvlink2": "pcie3_x16", "nvlink4": "pcie5_x16"}


def read(
    path: Path,
    gpu: str | None = None,
    host: str | None = None,
    pcie: str | None = None,
    nic_rate: float | None = None,
) -> Topology:
    """A matrix of `nvidia-smi topo -m`, as a server.

    gpu, host: rows of GPUS and HOSTS; pcie: of LINKS; nic_rate [bytes/s]: of a port. Raises InputError with 'file:line:
    what is wrong'.
    """
    matrix = nvidia_smi_matrix.read(Path(path))
    topology = Topology(Path(path).stem)
    topology.assumptions += matrix.assumptions
    distances = _distances(matrix, topology.assumptions)
    kind, most = _nvlinks(matrix, gpu, topology.assumptions)
    if pcie is None:
        pcie = GPUS[gpu].pcie if gpu else _PCIE_OF_NVLINK.get(kind, "pcie4_x16")
        why = f"that of {gpu}" if gpu else "no `pcie` or `gpu` beside the file says otherwise"
        topology.assumptions.append(f"All PCIe links are taken as {pcie}: {why}.")
    server = topology.add_server("server")
    ids = {i: topology.add_device(f"gpu{number}", "gpu", server, gpu or "") for number, i in enumerate(matrix.gpus)}
    _add_pcie(topology, matrix, distances, ids, host or "skylake", LINKS[pcie].rate, nic_rate or 0.0)
    _add_nvlinks(topology, matrix, ids, kind, most)
    topology.assumptions += _unsaid(matrix, gpu, host, nic_rate)
    return topology


def _unsaid(matrix: Matrix, gpu: str | None, host: str | None, nic_rate: float | None) -> list[str]:
    """What no matrix says."""
    notes = [
        "GPUs are taken to reach each other, and NICs their memory, over PCIe (P2P and GPUDirect): not in the file."
    ]
    if gpu is None:
        notes.append("The model of the GPUs is not in the file: without a `gpu` beside it, they cannot compute.")
    if host is None:
        notes.append("Memory and links between sockets are taken as those of skylake: no `host` beside the file.")
    if len(matrix.gpus) < len(matrix.names) and nic_rate is None:
        notes.append("Rates of NIC ports are not in the file: behind a fabric they need a `nic_rate` or link_rate.")
    return notes


# -- distances over PCIe ----------------------------------------------------------------------------------


def _distances(matrix: Matrix, notes: list[str]) -> dict[tuple[int, int], int]:
    """Distance of any two devices, as a place in PCIE_WORDS, by (i, j) and (j, i).

    A PCIe tree makes them an ultrametric: of the three distances among three devices, the two largest are equal. That
    shows contradictions, and what NVLinks hide. Raises InputError.
    """
    known: dict[tuple[int, int], int] = {}
    for (i, j), word in matrix.words.items():
        if word in PCIE_WORDS:
            known[i, j] = known[j, i] = PCIE_WORDS.index(word)
    _check_tree(matrix, known)
    guessed = False
    for i, j in (pair for pair in matrix.words if pair not in known):
        distance = _from_others(matrix, known, i, j)
        guessed |= distance is None
        known[i, j] = known[j, i] = _farthest(matrix, known, i, j) if distance is None else distance
    if guessed:
        notes.append(
            "Where the matrix names the NVLinks of two GPUs, it hides their distance over PCIe: taken as the farthest "
            "that their distances to NICs and their NUMA nodes permit."
        )
    return known


def _check_tree(matrix: Matrix, known: dict[tuple[int, int], int]) -> None:
    """InputError where three devices are at distances that no tree has."""
    for three in combinations(range(len(matrix.names)), 3):
        pairs = list(combinations(three, 2))
        sides = sorted(known.get(pair, -1) for pair in pairs)
        if sides[0] >= 0 and sides[1] != sides[2]:
            a, b, c = (matrix.names[i] for i in three)
            words = ", ".join(f"{matrix.names[i]}-{matrix.names[j]} {matrix.words[i, j]}" for i, j in pairs)
            raise matrix.lines[three[2]].error(f"no PCIe tree has {a}, {b} and {c} at these distances: {words}")


def _from_others(matrix: Matrix, known: dict[tuple[int, int], int], i: int, j: int) -> int | None:
    """The distance of two devices that those to others leave no choice for; None: they do. Raises InputError."""
    exact = [max(known[i, k], known[j, k]) for k in _seen_by_both(matrix, known, i, j) if known[i, k] != known[j, k]]
    if exact and (min(exact) != max(exact) or _farthest(matrix, known, i, j, _SYS) < exact[0]):
        a, b = matrix.names[i], matrix.names[j]
        raise matrix.lines[j].error(f"no PCIe tree has {a} and {b} where their distances to the others put them")
    return exact[0] if exact else None


def _farthest(matrix: Matrix, known: dict[tuple[int, int], int], i: int, j: int, most: int | None = None) -> int:
    """The farthest that two devices can be apart, by what is as far from both, and within `most` or their NUMA node."""
    if most is None:
        apart = matrix.numa[i] and matrix.numa[j] and matrix.numa[i] != matrix.numa[j]
        most = _SYS if apart else _NODE
    within = [known[i, k] for k in _seen_by_both(matrix, known, i, j) if known[i, k] == known[j, k]]
    return min([*within, most])


def _seen_by_both(matrix: Matrix, known: dict[tuple[int, int], int], i: int, j: int) -> list[int]:
    """Devices whose distances to both i and j are known."""
    return [k for k in range(len(matrix.names)) if (i, k) in known and (j, k) in known]


def _clusters(members: list[int], distances: dict[tuple[int, int], int], within: int) -> list[list[int]]:
    """Groups of members no farther apart than `within`, in the order of their first members."""
    groups: list[list[int]] = []
    for i in members:
        group = next((g for g in groups if distances[g[0], i] <= within), None)
        if group is None:
            groups.append([i])
        else:
            group.append(i)
    return groups


def _add_pcie(topology, matrix: Matrix, distances, ids: dict[int, int], host: str, rate: float, port: float) -> None:
    """Add sockets, switches and NICs, and join everything by PCIe links of `rate` [bytes/s]."""
    sockets = _clusters(list(range(len(matrix.names))), distances, _NODE)
    cpus = add_sockets(topology, "server", [host] * len(sockets))
    plugged: list[tuple[int, int]] = []  # device of the matrix, id above it
    switches = 0

    def switch(above: int) -> int:
        nonlocal switches
        new = topology.add_device(f"pcie{switches}", "pcie_switch", "server")
        connect_pcie(topology, new, above, rate)
        switches += 1
        return new

    for cpu, members in zip(cpus, sockets):
        for tree in _clusters(members, distances, _PXB):
            groups = _clusters(tree, distances, _PIX)
            top = cpu if len(groups) == 1 else switch(cpu)
            for group in groups:
                above = top if len(tree) == 1 else switch(top)
                plugged += ((i, above) for i in group)
    for number, i in enumerate(i for i in range(len(matrix.names)) if i not in ids):
        ids[i] = topology.add_device(f"nic{number}", "nic", "server", port_rate=port)
    for i, above in sorted(plugged):
        connect_pcie(topology, ids[i], above, rate)


# -- NVLink -----------------------------------------------------------------------------------------------


def _nvlinks(matrix: Matrix, gpu: str | None, notes: list[str]) -> tuple[str, int]:
    """Row of LINKS of an NVLink ('' where there are none), and how many a GPU has at most. Raises InputError."""
    pairs = _pairs(matrix)
    if not pairs:
        return "", 0
    if gpu:
        if not GPUS[gpu].nvlinks:
            raise matrix.lines[min(pairs)[1]].error(f"there are NVLinks, which a {gpu} does not have")
        return GPUS[gpu].nvlink, GPUS[gpu].nvlinks
    total = max(sum(count for pair, count in pairs.items() if i in pair) for i in matrix.gpus)
    if total > _MOST_NVLINKS:  # an NVSwitch, to which all links of a GPU go
        total = max(pairs.values())
    kind = _NVLINK_OF_COUNT.get(total, "nvlink3")
    each = RATE.format(LINKS[kind].rate)
    notes.append(
        f"Generation of the NVLinks, {total} per GPU, taken as {kind} with {each} each: no `gpu` beside the file."
    )
    return kind, _MOST_NVLINKS


def _pairs(matrix: Matrix) -> dict[tuple[int, int], int]:
    """Number of NVLinks of every pair that has some."""
    return {pair: int(word[2:]) for pair, word in matrix.words.items() if word.startswith("NV")}


def _add_nvlinks(topology: Topology, matrix: Matrix, ids: dict[int, int], kind: str, most: int) -> None:
    """Join GPUs by NVLinks: all through an NVSwitch where direct ones would be more than a GPU has."""
    pairs = _pairs(matrix)
    for pair in pairs:
        if any(i not in matrix.gpus for i in pair):
            a, b = (matrix.names[i] for i in pair)
            raise matrix.lines[pair[1]].error(f"{a} and {b} are joined by {matrix.words[pair]}: NVLinks join GPUs")
    left, switches = list(matrix.gpus), 0
    while left:
        group = _joined_to(left.pop(0), pairs)
        left = [i for i in left if i not in group]
        inside = {pair: count for pair, count in pairs.items() if pair[0] in group}
        totals = {i: sum(count for pair, count in inside.items() if i in pair) for i in group}
        if max(totals.values()) <= most:
            for (a, b), count in inside.items():
                topology.connect(ids[a], ids[b], count * LINKS[kind].rate, LINKS[kind].latency, "nvlink")
            continue
        uniform = len(set(inside.values())) == 1 and len(inside) == len(group) * (len(group) - 1) // 2
        worst = max(group, key=totals.get)
        if not uniform or min(inside.values()) > most:
            raise matrix.lines[worst].error(
                f"{matrix.names[worst]} has {totals[worst]} NVLinks; a GPU has at most {most}"
            )
        switch = topology.add_device(f"nvswitch{switches}", "nvswitch", "server")
        switches += 1
        count = next(iter(inside.values()))
        for i in group:
            topology.connect(ids[i], switch, count * LINKS[kind].rate, LINKS[kind].latency, "nvlink")
        topology.assumptions.append(
            f"NV{count} between all of {len(group)} GPUs is taken as an NVSwitch: no GPU has {totals[worst]} NVLinks."
        )
    if switches:
        topology.assumptions.append(MERGED)


def _joined_to(start: int, pairs: dict[tuple[int, int], int]) -> list[int]:
    """GPUs that NVLinks join to one, directly or over others, itself among them; in order."""
    group, frontier = {start}, [start]
    while frontier:
        i = frontier.pop()
        new = {j for pair in pairs if i in pair for j in pair} - group
        group |= new
        frontier += sorted(new)
    return sorted(group)
