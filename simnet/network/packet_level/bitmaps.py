"""Which packets have arrived, are acknowledged or lost: rings of bits by sequence number, three per connection."""

import numpy as np

from simnet.jit import kernel

ARRIVED, ACKNOWLEDGED, LOST = range(3)
_ONE = np.uint64(1)
WINDOW = 31  # bits that an acknowledgement carries
_WINDOW = np.uint64((1 << WINDOW) - 1)


@kernel
def get_bit(which, connection, sequence, bits):
    """The bit of a sequence number in ring `which` of a connection; bits: uint64[connections, 3, words]."""
    words = bits.shape[2]
    return (bits[connection, which, (sequence >> 6) % words] >> np.uint64(sequence & 63)) & _ONE != 0


@kernel
def set_bit(which, connection, sequence, value, bits):
    """Set or clear a bit."""
    word = (sequence >> 6) % bits.shape[2]
    mask = _ONE << np.uint64(sequence & 63)
    if value:
        bits[connection, which, word] |= mask
    else:
        bits[connection, which, word] &= ~mask


@kernel
def window_of(which, connection, start, bits):
    """The bits of [start, start + WINDOW) as one number."""
    words, offset = bits.shape[2], np.uint64(start & 63)
    word = start >> 6
    window = bits[connection, which, word % words] >> offset
    if offset > 0:
        window |= bits[connection, which, (word + 1) % words] << (np.uint64(64) - offset)
    return np.int64(window & _WINDOW)


@kernel
def first_set(which, connection, start, stop, bits):
    """First sequence number in [start, stop) whose bit is set, or -1."""
    sequence = start
    words = bits.shape[2]
    while sequence < stop:
        rest = bits[connection, which, (sequence >> 6) % words] >> np.uint64(sequence & 63)
        if rest == 0:
            sequence = (sequence | 63) + 1
            continue
        while rest & _ONE == 0:
            rest >>= _ONE
            sequence += 1
        return sequence if sequence < stop else -1
    return -1
