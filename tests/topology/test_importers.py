"""What all importers of topologies share: how a file's format is told, and the options beside it."""

import pytest

from simnet.errors import InputError
from simnet.topology import TopologyFile
from simnet.topology.importers import IMPORTERS, importer_of

NS3 = "2 0 1\n0 1 100Gbps 1us 0\n"


def test_a_format_is_told_by_what_stands_in_the_file_whatever_its_ending(tmp_path):
    path = tmp_path / "fabric.log"
    path.write_text(f"# a comment\n{NS3}")
    assert importer_of(path) is IMPORTERS["ns3"]
    assert len(TopologyFile(file=path).build().gpus) == 2


def test_yaml_is_simnets_own_unless_it_looks_like_another_format_of_yaml(tmp_path):
    path = tmp_path / "fabric.yaml"
    path.write_text(NS3)
    assert importer_of(path) is None


def test_options_that_a_format_does_not_take_are_refused(tmp_path):
    path = tmp_path / "topology.txt"
    path.write_text(NS3)
    with pytest.raises(InputError, match=r"gpu: topology\.txt is of a format that takes no options"):
        TopologyFile(file=path, gpu="h100_sxm").build()
