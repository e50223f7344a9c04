"""INT records of the last acknowledgement, kept per connection for controls that compare one with the next."""

from simnet.jit import kernel

FIRST_HOP = 8  # slot of k.cc; before it are those of the control
MOST_HOPS = 10
TIME, BYTES, QUEUE, PORT = range(4)  # of every hop
PER_HOP = 4


@kernel(inline=True)
def known(k, hop, record):
    """True if the last record of this hop is of the same port and older, so that the two can be compared."""
    slot = FIRST_HOP + PER_HOP * hop
    return k.cc[slot + PORT] == record.port + 1.0 and record.time > k.cc[slot + TIME]


@kernel(inline=True)
def keep(k, hop, record):
    """Remember a record."""
    slot = FIRST_HOP + PER_HOP * hop
    k.cc[slot + TIME] = record.time
    k.cc[slot + BYTES] = record.bytes
    k.cc[slot + QUEUE] = record.queue
    k.cc[slot + PORT] = record.port + 1.0
