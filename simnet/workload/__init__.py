"""What jobs compute and exchange: task graphs, the generators and files that make them, and collectives."""

from simnet.workload.file import WorkloadFile
from simnet.workload.models import MODELS, WORKLOADS
from simnet.workload.task_graph import Operation, TaskGraph, TaskGraphBuilder

__all__ = ["MODELS", "WORKLOADS", "Operation", "TaskGraph", "TaskGraphBuilder", "WorkloadFile"]
