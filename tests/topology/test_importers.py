"""What all importers of topologies share: how a format is told, options, and the way to simnet's own YAML."""

import inspect

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simnet.errors import InputError
from simnet.topology import Topology, TopologyFile, native
from simnet.topology.importers import IMPORTERS, YAML, importer_of

NS3 = "2 0 1\n0 1 100Gbps 1us 0\n"
SAMPLES = {  # a small file of every format
    "nccl_xml": (
        '<system version="1"><cpu numaid="0" arch="x86_64" vendor="AuthenticAMD" familyid="143" modelid="49">'
        '<pci busid="0000:01:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16">'
        '<gpu dev="0" sm="80" rank="0" gdr="1"/></pci></cpu></system>'
    ),
    "simgrid": (
        '<!DOCTYPE platform SYSTEM "simgrid.dtd">\n<platform version="4.1"><cluster id="c" prefix="n" radical="0-3" '
        'suffix=".org" speed="1Gf" bw="125MBps" lat="50us" bb_bw="1GBps" bb_lat="0"/></platform>'
    ),
    "hwloc": (
        '<topology version="2.0"><object type="Package" gp_index="1"><object type="PCIDev" gp_index="2" '
        'pci_busid="0:1:0.0" pci_type="0302 [10de:20b2]" pci_link_speed="31.5"/></object></topology>'
    ),
    "graphml": (
        '<graphml><key attr.name="label" for="edge" id="l"/><graph><node id="a"/><node id="b"/>'
        '<edge source="a" target="b"><data key="l">10 Gbps</data></edge></graph></graphml>'
    ),
    "astra_sim": "topology: [ Ring, Switch ]\nnpus_count: [ 3, 2 ]\nbandwidth: [ 50, 25 ]\nlatency: [ 500, 10 ]\n",
    "htsim": (
        "Nodes 4\nTiers 2\nPodsize 4\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 2\nRadix_Up 1\noversubscribed 2\n"
        "Downlink_Latency_ns 1000\nQueue_Up 5000\nTier 1\nDownlink_speed_Gbps 100\nRadix_Down 2\n"
        "Downlink_Latency_ns 1500\n"
    ),
    "nvidia_smi": "\tGPU0\tGPU1\tmlx5_0\nGPU0\tX\tNV12\tPIX\nGPU1\tNV12\tX\tSYS\nmlx5_0\tPIX\tSYS\tX\n",
    "ibnetdiscover": (
        'Switch 2 "S-0010" # "leaf" base port 0 lid 1 lmc 0\n[1] "H-00a0"[1] # "a b" lid 2 4xHDR\n'
        '[2] "H-00b0"[1] # "c, d: \'e\'" lid 2 4xFDR\n'
    ),
    "slurm": "SwitchName=s Nodes=n[1-2]\n",
    "ns3": NS3,
}


def build(path, text: str) -> Topology:
    path.write_text(text)
    return TopologyFile(file=path).build()


def parts(topology: Topology) -> tuple:
    """All that a topology consists of."""
    return topology.name, topology.devices, topology.links, topology.servers, topology.assumptions


def test_there_is_a_sample_of_every_format():
    assert set(SAMPLES) == set(IMPORTERS)


@pytest.mark.parametrize("name", SAMPLES)
class TestEveryFormat:
    def test_is_told_by_what_stands_in_the_file(self, tmp_path, name):
        ending = next((ending for ending in IMPORTERS[name].endings if ending in YAML), ".log")
        path = tmp_path / f"sample{ending}"
        path.write_text(SAMPLES[name])
        assert importer_of(path) is IMPORTERS[name]

    def test_exported_and_imported_again_is_equal(self, tmp_path, name):
        topology = build(tmp_path / f"sample{IMPORTERS[name].endings[0]}", SAMPLES[name])
        assert topology.devices
        assert parts(build(tmp_path / "own.yaml", native.to_yaml(topology))) == parts(topology)

    def test_takes_options_that_exist(self, name):
        options = list(inspect.signature(IMPORTERS[name].read).parameters)[1:]
        assert set(options) <= set(TopologyFile.model_fields)

    def test_is_refused_in_a_sentence_where_it_is_cut_off(self, tmp_path, name):
        """Whatever the cut leaves is a topology or an error with the file in it, never anything else."""
        path = tmp_path / f"sample{IMPORTERS[name].endings[0]}"
        refusals = []
        for end in range(len(SAMPLES[name])):
            try:
                build(path, SAMPLES[name][:end])
            except InputError as error:
                refusals.append(str(error))
        assert refusals
        assert all(refusal.startswith(str(path)) for refusal in refusals)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(sorted(SAMPLES)),
    st.integers(0, 400),
    st.integers(0, 12),
    st.text('XNV019GPU[]-,=# \n\t"<>/x', max_size=4),
)
def test_a_damaged_file_is_a_topology_or_refused_in_a_sentence(tmp_path, name, start, length, text):
    damaged = SAMPLES[name][:start] + text + SAMPLES[name][start + length :]
    try:
        topology = build(tmp_path / f"sample{IMPORTERS[name].endings[0]}", damaged)
    except InputError:
        return
    assert parts(build(tmp_path / "own.yaml", native.to_yaml(topology))) == parts(topology)


def test_a_format_is_told_with_comments_before_it(tmp_path):
    path = tmp_path / "fabric.log"
    path.write_text(f"# a comment\n{NS3}")
    assert importer_of(path) is IMPORTERS["ns3"]


def test_yaml_is_simnets_own_unless_it_looks_like_another_format_of_yaml(tmp_path):
    path = tmp_path / "fabric.yaml"
    path.write_text(NS3)
    assert importer_of(path) is None


def test_options_that_a_format_does_not_take_are_refused(tmp_path):
    path = tmp_path / "topology.txt"
    path.write_text(NS3)
    with pytest.raises(InputError, match=r"gpu: topology\.txt is of a format that takes no options"):
        TopologyFile(file=path, gpu="h100_sxm").build()
