"""Packets between servers: their NICs take what comes, and pause only where a threshold says so."""

import simnet

SERVERS = {
    "kind": "single_switch", "nodes": 2, "node": {"kind": "pcie_server", "gpus": 4, "nics": 1, "nic_rate": "100Gbps"}
}  # fmt: skip


def sent(pairs, ports, topology=SERVERS):
    """1 MB from rank to rank of every pair, on packets without congestion control."""
    workload = {"kind": "traffic", "pattern": "pairs", "pairs": [{"from": a, "to": b} for a, b in pairs], "size": "1MB"}
    network = {"model": "packet", "congestion_control": {"kind": "none"}, "ports": {"lossless": True} | ports}
    run = simnet.run({"topology": topology, "network": network, "jobs": [{"workload": workload}]})
    assert run.summary["status"] == "completed"
    return run


def test_a_nic_that_forwards_faster_than_its_link_pauses_nobody():
    """PCIe is faster than the NIC's cable, so nothing waits: 4 MB and headers at 12.5 GB/s, and some latency."""
    run = sent([(i, (i + 4) % 8) for i in range(8)], {})
    assert run.summary["queues"]["pauses"] == 0
    wire = 4e6 * 4160 / 4096 / 12.5e9
    assert wire < run.summary["makespan"] < 1.03 * wire


def test_a_fixed_threshold_holds_for_nics_too():
    """A slow way on into the server fills the NIC to the threshold, and the switch is paused, again and again."""
    slow = SERVERS | {"node": SERVERS["node"] | {"gpu_rate": "4GB/s"}}
    run = sent([(i, 4) for i in range(4)], {"pfc": {"xoff": "50kB", "xon": "40kB"}}, slow)
    links = {row["link"]: row for row in run.links.to_pylist()}
    assert links["switch0 -> node1/nic0"]["pauses"] > 0
    assert run.summary["queues"]["dropped"] == 0
