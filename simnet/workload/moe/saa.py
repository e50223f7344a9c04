"""SAA, the simultaneous all-to-all and all-gather of Parm (arXiv 2407.00599), as a table of flows.

As in the public kernel (github.com/Fragile-azalea/Parm, custom_kernel.cpp): the all-to-all goes in P pairwise steps on
one stream, step i being the exchange of rank r with r + i and r - i, and step 0 a local copy; on a second stream the
MP group gathers the chunk of step i as soon as that step is over and the chunk before has been gathered. The all-to-all
never waits for the all-gather. Every step on either stream is a kernel of its own and costs a launch. Chunks are
gathered summed up, so that of a chunk of c bytes c / N_ESP travel on: N_ESP partial sums become one.
"""

import numpy as np

from simnet.workload.traffic import Traffic, traffic

EXCHANGE, GATHER = range(2)  # channels


def saa(matrix: np.ndarray, members: int, shards: int, launch: float) -> Traffic:
    """The flows: matrix[i, j] bytes go from rank i to rank j, and on within MP groups of `members` consecutive ranks.

    shards: N_ESP. launch [s]: before every step.
    """
    ranks = len(matrix)
    rank = np.arange(ranks)
    step = np.arange(1, ranks)[:, None]
    target = (rank + step) % ranks
    exchange = np.arange((ranks - 1) * ranks).reshape(ranks - 1, ranks)  # flow of step s from rank r: [s - 1, r]
    received = exchange[step - 1, (rank - step) % ranks]

    chunk = np.arange(ranks)[:, None]
    held = matrix[(rank - chunk) % ranks, rank] / shards  # bytes of chunk c at rank r
    peer = _peers(ranks, members)  # [r, m - 1]
    gather = exchange.size + np.arange(ranks * ranks * (members - 1)).reshape(ranks, ranks, members - 1)
    arriving = _reverse(gather, peer, members)

    before, after = [], []

    def wait(later, *earlier):
        for flows in earlier:
            pair = np.broadcast_arrays(flows, later)
            before.append(pair[0].ravel())
            after.append(pair[1].ravel())

    wait(exchange[1:], exchange[:-1], received[:-1])
    wait(gather[1:], exchange[:, :, None], received[:, :, None])
    for m in range(members - 1):
        wait(gather[1:], gather[:-1, :, m : m + 1], arriving[:-1, :, m : m + 1])

    source = np.concatenate([np.broadcast_to(rank, target.shape).ravel(), _spread(rank[None, :, None], gather)])
    return traffic(
        source,
        np.concatenate([target.ravel(), _spread(peer[None], gather)]),
        np.concatenate([matrix[rank, target].ravel(), _spread(held[:, :, None], gather)]),
        launch,
        channel=np.repeat([EXCHANGE, GATHER], [exchange.size, gather.size]),
        before=np.concatenate(before),
        after=np.concatenate(after),
    )


def _peers(ranks: int, members: int) -> np.ndarray:
    """The other members of every rank's MP group [ranks, members - 1], beginning with the next one."""
    rank = np.arange(ranks)[:, None]
    return rank // members * members + (rank + np.arange(1, members)) % members


def _reverse(gather: np.ndarray, peer: np.ndarray, members: int) -> np.ndarray:
    """Flows of `gather` that arrive at a rank: member r + m has r as its member number N_MP - m."""
    return gather[:, peer, members - 2 - np.arange(members - 1)]


def _spread(values: np.ndarray, like: np.ndarray) -> np.ndarray:
    return np.broadcast_to(values, like.shape).ravel()
