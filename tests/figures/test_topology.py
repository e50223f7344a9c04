"""Pictures of clusters: what stands in them, for every builder and for fabrics too large to see."""

import pytest

from simnet.figures import server, to_png
from simnet.figures import topology as picture
from simnet.topology import Topology
from simnet.topology.builders import BUILDERS
from simnet.topology.topology import LINK_KINDS


def texts(figure) -> list[str]:
    return [text.get_text() for axes in figure.axes for text in axes.texts]


@pytest.mark.parametrize("name", BUILDERS)
def test_every_builder_can_be_drawn(name):
    figure = picture.draw(BUILDERS[name]().build())
    assert figure.axes
    assert to_png(figure).startswith(b"\x89PNG")


def test_a_server_shows_every_device():
    topology = BUILDERS["dgx_a100"]().build()
    assert sorted(texts(picture.draw(topology))) == sorted(device.name for device in topology.devices)


def test_devices_of_a_row_do_not_overlap():
    topology = BUILDERS["dgx_a100"](gpus=16, nics=8).build()
    layout = server._layout(topology, server.members(topology))
    by_row: dict[float, list[float]] = {}
    for i, row in layout.row.items():
        by_row.setdefault(row, []).append(layout.x[i])
    for places in by_row.values():
        assert len({round(x, 6) for x in places}) == len(places)


def test_a_fabric_has_its_tiers_and_the_inside_of_a_server():
    shown = texts(picture.draw(BUILDERS["rail_optimized"](node={"kind": "dgx_a100"}, nodes=4).build()))
    assert {"node3", "4 servers\nwith 8 GPUs each", "nvswitch0"} <= set(shown)


def test_many_leaves_become_one_box():
    topology = Topology("wide")
    spine = topology.add_device("spine", "switch")
    for i in range(100):
        leaf = topology.add_device(f"leaf{i}", "switch")
        topology.connect(leaf, spine, 50e9, 0.0, "ib")
        topology.connect(topology.add_device(f"gpu{i}", "gpu"), leaf, 25e9, 0.0, "ib")
    shown = texts(picture.draw(topology))
    assert {"spine", "leaf0\nand 99 more", "100 × 50 GB/s", "100 × 25 GB/s", "100 switches"} <= set(shown)


def test_switches_among_themselves_stand_in_a_ring():
    shown = texts(picture.draw(BUILDERS["torus"]().build()))
    assert any("(their number behind each switch)" in text for text in shown)


def test_every_kind_of_link_has_a_colour():
    assert set(server.LINK_COLORS) == set(LINK_KINDS)


def test_equal_topologies_give_equal_pictures():
    first, second = (to_png(picture.draw(BUILDERS["dgx1_v100"]().build())) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("kinds", [(), ("gpu",), ("gpu", "gpu"), ("switch",), ("cpu", "gpu")])
def test_devices_without_links(kinds):
    topology = Topology("bare")
    server_name = topology.add_server("box") if "cpu" in kinds else ""
    for i, kind in enumerate(kinds):
        topology.add_device(f"d{i}", kind, server_name)
    assert to_png(picture.draw(topology))
