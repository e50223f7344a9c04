"""Record arrays of the flow-level model, one per entity."""

import numpy as np

# One row: scalars that the kernels share.
WORLD = np.dtype(
    [
        ("now", "f8"),  # [s]
        ("bin_width", "f8"),  # [s] of the utilization samples
        ("timers", "i8"),  # entries in the timer heap
        ("live", "i8"),  # slots in use
        ("free", "i8"),  # top of the stack of free slots
        ("hops", "i8"),  # entries per slot: slot s owns entries [s * hops, (s + 1) * hops)
        ("touched", "i8"),  # links whose flows changed since the last solve
        ("heap", "i8"),  # links in the solver's heap
        ("changed", "i8"),  # slots that the last solve gave a new rate
        ("stamp", "i8"),  # number of the current solve
        ("everything", "i8"),  # 1: the next solve starts from scratch
        ("completions", "i8"),  # rows in the output
        ("parked", "i8"),  # live flows without a path
        ("events", "i8"),
        ("solves", "i8"),
        ("full_solves", "i8"),
        ("scanned", "i8"),  # entries looked at by all solves
    ],
    align=True,
)

# route: rows of `routes` [first, first + length); length -1: no path.
CONNECTION = np.dtype(
    [
        ("first", "i8"),
        ("length", "i4"),
        ("source", "i4"),  # rank within the group
        ("destination", "i4"),
        ("latency", "f8"),  # [s]
        ("delay", "f8"),  # [s] before each flow
    ],
    align=True,
)

ROUTE = np.dtype([("share", "f8"), ("link", "i4")], align=True)

# A flow that is being sent. status: see below.
SLOT = np.dtype(
    [
        ("remaining", "f8"),  # [bytes] at time `updated`
        ("rate", "f8"),  # [bytes/s]
        ("updated", "f8"),  # [s]
        ("flow", "i8"),
        ("stamp", "i8"),  # solve that last set the rate
        ("listed", "i8"),  # solve that last listed the slot as changed
        ("bottleneck", "i4"),  # link that holds the rate down
        ("hops", "i4"),
        ("status", "i4"),
    ],
    align=True,
)
FREE, DETERMINED, RELEASED, PARKED = range(4)

# A live flow on one of its links; the entries of a link form a doubly linked list.
ENTRY = np.dtype([("share", "f8"), ("link", "i4"), ("slot", "i4"), ("next", "i4"), ("previous", "i4")], align=True)

LINK = np.dtype(
    [
        ("capacity", "f8"),  # [bytes/s]
        ("level", "f8"),  # [bytes/s] rate of the flows that it holds down; inf: it has room
        # during a solve:
        ("fixed", "f8"),  # [bytes/s] taken by flows whose rate stands
        ("weight", "f8"),  # sum of shares of released flows
        ("key", "f8"),  # level at which the link must be looked at next
        ("released", "i8"),  # number of released flows
        ("position", "i8"),  # in the heap, -1: not there
        ("status", "i8"),
        ("head", "i8"),  # first entry, -1: none
        # accounting:
        ("load", "f8"),  # [bytes/s] now
        ("since", "f8"),  # [s] the load holds since then
        ("bytes", "f8"),
        ("busy", "f8"),  # [s]
    ],
    align=True,
)
CLOSED, TOUCHED, HELD, OPEN, FINAL = range(5)
