"""Network files of ASTRA-sim's analytical backend: dimensions of NPUs, each with its shape, rate and latency.

    topology: [ Ring, Switch ]        innermost dimension first
    npus_count: [ 8, 2 ]
    bandwidth: [ 400, 50 ]            GB/s of a link, each way
    latency: [ 936.25, 1000 ]         ns of a link

NPUs are gpus that count the innermost dimension fastest.
"""

import math
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, Field, PositiveInt

from simnet import reader
from simnet.params import Params
from simnet.reader.source import Source
from simnet.topology.importers import forwarding_hosts
from simnet.topology.topology import Topology
from simnet.units import RATE, TIME

_RING, _FULL, _SWITCH = "Ring", "FullyConnected", "Switch"


class _File(Params):
    model_config = ConfigDict(extra="ignore")

    topology: tuple[Literal["Ring", "FullyConnected", "Switch"], ...] = Field(min_length=1)
    npus_count: tuple[PositiveInt, ...]
    bandwidth: tuple[Any, ...] = ()
    latency: tuple[Any, ...] = ()


def read(
    path: Path, gpu: str | None = None, link_rate: float | None = None, link_latency: float | None = None
) -> Topology:
    """Network YAML of ASTRA-sim: rings, full meshes and switches, one in every dimension.

    gpu: model of the NPUs, a row of GPUS; link_rate [bytes/s], link_latency [s]: where the file states none. Raises
    InputError with 'file:line: what is wrong'.
    """
    file, source = reader.load(path, _File)
    sizes = file.npus_count
    if len(sizes) != len(file.topology):
        raise source.error([(("npus_count",), _count(len(sizes), len(file.topology)))])
    rates = _numbers(file, source, "bandwidth", "GB/s", link_rate)
    latencies = _numbers(file, source, "latency", "ns", link_latency)
    topology = Topology(Path(path).stem)
    names = [f"npu{i}" for i in range(math.prod(sizes))]
    alone = len(sizes) == 1 and file.topology[0] != _RING  # nobody forwards for others
    if alone:
        ends = [topology.add_device(name, "gpu", model=gpu or "") for name in names]
    else:
        ends = forwarding_hosts.add_hosts(topology, names, gpu or "")
    for axis, (shape, rate, latency) in enumerate(zip(file.topology, rates, latencies)):
        for place, line in enumerate(_lines(ends, sizes, axis)):
            _join(topology, shape, line, f"dimension{axis}/switch{place}", rate, latency)
    if not alone:
        forwarding_hosts.plug_in(topology, ends)
    if gpu is None:
        topology.assumptions.append("The NPUs are of no model: without a `gpu` beside the file, they cannot compute.")
    topology.assumptions.append("GB/s are 10^9 bytes/s; some versions of ASTRA-sim count 2^30.")
    if _RING in file.topology:
        topology.assumptions.append("Rings run both ways; one of two NPUs is a single cable.")
    return topology


def _lines(ends: list[int], sizes: tuple[int, ...], axis: int) -> list[list[int]]:
    """Devices that differ in one dimension only, for all places in the others."""
    step, size = math.prod(sizes[:axis]), sizes[axis]
    starts = [i for i in range(len(ends)) if i // step % size == 0]
    return [[ends[start + step * k] for k in range(size)] for start in starts]


def _join(topology: Topology, shape: str, line: list[int], name: str, rate: float, latency: float) -> None:
    if len(line) == 1:
        return
    if shape == _SWITCH:
        switch = topology.add_device(name, "switch")
        pairs = [(end, switch) for end in line]
    elif shape == _FULL or len(line) == 2:
        pairs = list(combinations(line, 2))
    else:
        pairs = list(zip(line, line[1:] + line[:1]))
    for a, b in pairs:
        topology.connect(a, b, rate, latency, "ethernet")


def _numbers(file: _File, source: Source, key: str, unit: str, option: float | None) -> list[float]:
    """Rates [bytes/s] or latencies [s] of all dimensions; `option` stands in for what is no number."""
    dimension = RATE if key == "bandwidth" else TIME
    values = getattr(file, key) or ("",) * len(file.topology)
    if len(values) != len(file.topology):
        raise source.error([((key,), _count(len(values), len(file.topology)))])
    numbers = []
    for i, value in enumerate(values):
        known = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not known and option is None:
            instead = "link_rate" if key == "bandwidth" else "link_latency"
            said = f"got '{value}'" if value else "it is missing"
            sentence = f"expected a number of {unit}, {said}; a {instead} beside the file stands in for it"
            raise source.error([((key, i) if value else (), sentence if value else f"{key}: {sentence}")])
        try:
            numbers.append(dimension.parse(f"{value}{unit}") if known else option)
        except ValueError as error:
            raise source.error([((key, i), str(error))]) from None
    return numbers


def _count(found: int, wanted: int) -> str:
    return f"{found} values for {wanted} dimensions of 'topology'"
