"""Workload generators: what a job computes and exchanges, from a few parameters.

Adding one: a file with a Params class that has `build(ranks) -> TaskGraph`, and a row here.
"""

from simnet.params import Params
from simnet.workload.models.collective import Collective
from simnet.workload.models.data_parallel import DataParallel
from simnet.workload.models.embedding import EmbeddingAllToAll
from simnet.workload.models.flows import Flows
from simnet.workload.models.moe_collectives import MoeCollectives
from simnet.workload.models.moe_layer import MoeLayer
from simnet.workload.models.moe_model import MoeModel
from simnet.workload.models.networks import MODELS
from simnet.workload.models.traffic import TrafficPattern

__all__ = ["MODELS", "WORKLOADS"]

WORKLOADS: dict[str, type[Params]] = {
    "collective": Collective,
    "data_parallel": DataParallel,
    "embedding_all_to_all": EmbeddingAllToAll,
    "moe_layer": MoeLayer,
    "moe_model": MoeModel,
    "moe_collectives": MoeCollectives,
    "traffic": TrafficPattern,
    "flows": Flows,
}
