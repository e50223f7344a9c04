"""Questions to the elements of NCCL's topology XML: what a PCI device is, and which ports and links it has."""

from collections.abc import Iterable, Iterator

from simnet.topology.importers.xml_tree import Element

SWITCH, GPU, NIC = "pcie_switch", "gpu", "nic"


def kind_of(pci: Element) -> str | None:
    """Device kind of a pci element; None where it is of no interest. Raises InputError where it cannot be told."""
    pci_class = pci.get("class").lower()
    if any(pci.all("gpu")):
        return GPU
    if pci_class.startswith("0x0604") or any(pci.all("pci")):
        return SWITCH
    if any(pci.all("nic")) or pci_class.startswith("0x02"):
        return NIC
    if pci_class.startswith(("0x03", "0x12")):
        return GPU
    if not pci_class:
        raise pci.error(
            f"{pci.get('busid')} has no class, <gpu> or <nic>, so it cannot be told what it is; NCCL looks that up on "
            "the machine. Import what NCCL_TOPO_DUMP_FILE writes there"
        )
    return None


def gpu_of(pci: Element) -> Element:
    """The gpu element of a pci element; hint files have none, which makes an empty one."""
    return next(pci.all("gpu"), Element("gpu", {}, pci.place))


def device_number(pci: Element) -> int:
    """CUDA's number of a GPU, 0 where not stated."""
    return gpu_of(pci).number("dev", 0, 0, 10_000)


def links_of(gpu: Element) -> Iterator[Element]:
    """Its NVLinks, or the xGMI links that RCCL lists."""
    yield from gpu.all("nvlink")
    yield from gpu.all("xgmi")


def nets_of(nic: Element) -> list[Element]:
    """Ports of a NIC, which is a pci element with a nic, or a nic without PCI device."""
    holders = [nic] if nic.tag == "nic" else nic.all("nic")
    return [net for holder in holders for net in holder.all("net")]


def has_gpudirect(gpus: Iterable[Element], nets: list[Element]) -> bool:
    """GPUDirect RDMA works where all GPUs and some port have it; what does not say is taken to."""
    able = [net.get("gdr") != "0" for net in nets]
    return all(gpu_of(gpu).get("gdr") != "0" for gpu in gpus) and (any(able) or not able)


def descendants(pci: Element) -> Iterator[Element]:
    """All pci elements below one."""
    for child in pci.all("pci"):
        yield child
        yield from descendants(child)
