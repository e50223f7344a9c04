"""Questions to the objects of hwloc's XML: what a PCI device is, how fast its link, which objects a matrix joins."""

import re
from collections.abc import Iterator

from simnet.topology.importers.xml_tree import Element
from simnet.units import RATE

GPU, NIC, NVSWITCH = "gpu", "nic", "nvswitch"

_TYPE = re.compile(r"([0-9a-f]{4}) \[([0-9a-f]{4}):([0-9a-f]{4})\]")
_NVIDIA, _AMD = "10de", "1002"
_COMPUTE = ("0302", "1200")  # PCI classes: 3D controller, processing accelerator; 03 are displays, 02 networks
_INFINIBAND = ("0207", "0c06")
_COMPUTES = re.compile(r"nvml|cuda|rsmi|opencl|ze")  # names of the operating system's devices
_RDMA = re.compile(r"mlx\d+_|ib\d|hfi\d|qib\d|bnxt_re|irdma|efa_")
_MATRICES = ("NVLinkBandwidth", "XGMIBandwidth")
_MOST_OBJECTS = 4096  # of a matrix


def objects(parent: Element) -> Iterator[Element]:
    """An object and all below it, from top to bottom."""
    yield parent
    for child in parent.all("object"):
        yield from objects(child)


def kind_of(device: Element) -> str:
    """GPU, NIC or NVSWITCH; '' for what is left out: storage, displays without compute and so on."""
    found = _TYPE.match(device.get("pci_type").lower())
    if device.get("type") != "PCIDev" or not found:
        return ""
    cls, vendor, _ = found.groups()
    if device.get("subtype") == "NVSwitch" or (cls == "0680" and vendor == _NVIDIA):
        return NVSWITCH
    computes = vendor == _NVIDIA or (vendor == _AMD and cls == "0380") or _has(device, _COMPUTES)
    if cls in _COMPUTE or (cls.startswith("03") and computes):
        return GPU
    return NIC if cls.startswith("02") or cls in _INFINIBAND else ""


def has_rdma(nic: Element) -> bool:
    """Whether a NIC is InfiniBand, or known to the operating system as one that reads and writes remote memory."""
    return _TYPE.match(nic.get("pci_type").lower())[1] in _INFINIBAND or _has(nic, _RDMA)


def pci_id(device: Element) -> str:
    """'vendor:device' in hexadecimal digits."""
    return ":".join(_TYPE.match(device.get("pci_type").lower()).groups()[1:])


def card_of(device: Element) -> str:
    """Domain, bus and device number: what the functions of one card have in common."""
    return device.get("pci_busid").rpartition(".")[0]


def link_rate(device: Element) -> float:
    """Rate [bytes/s] of the PCIe link above a device or bridge, 0 where not stated. Raises InputError."""
    text = device.get("pci_link_speed") or "0"
    if re.fullmatch(r"0*\.?0*", text):
        return 0.0
    try:
        return RATE.parse(f"{text}GB/s")
    except ValueError:
        raise device.error(f"pci_link_speed: expected a number of GB/s, got '{text[:40]}'") from None


def info(element: Element, name: str) -> str:
    """The value of an <info> of an element, '' where there is none."""
    return next((child.get("value") for child in element.all("info") if child.get("name") == name), "")


def links(root: Element) -> dict[tuple[str, str], float]:
    """Rates [bytes/s] of the NVLinks or xGMI links that the file's matrices state, by gp_index of both ends."""
    found: dict[tuple[str, str], float] = {}
    for matrix in root.children:
        if matrix.tag in ("distances2", "distances2hetero") and matrix.get("name") in _MATRICES:
            found |= _entries(matrix)
    return found


def _entries(matrix: Element) -> dict[tuple[str, str], float]:
    ends = [index.rpartition(":")[2] for row in matrix.all("indexes") for index in row.text.split()]
    values = [value for row in matrix.all("u64values") for value in row.text.split()]
    if len(ends) > _MOST_OBJECTS:
        raise matrix.error(f"more than {_MOST_OBJECTS} objects")
    if len(values) != len(ends) ** 2:
        raise matrix.error(f"{len(values)} values for {len(ends)} objects, which need {len(ends) ** 2}")
    if wrong := next((value for value in values if not re.fullmatch(r"[0-9]{1,9}", value)), None):
        raise matrix.error(f"expected whole numbers of MB/s, got '{wrong[:40]}'")
    if len(set(ends)) != len(ends):
        raise matrix.error("names an object twice")
    pairs = ((a, b) for a in ends for b in ends)
    return {
        (a, b): RATE.parse(f"{value}MB/s")
        for (a, b), value in zip(pairs, values)
        if a != b and int(value)
    }  # fmt: skip


def _has(device: Element, names: re.Pattern) -> bool:
    return any(child.get("type") == "OSDev" and names.match(child.get("name")) for child in device.all("object"))
