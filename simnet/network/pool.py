"""Regions in growing arrays: where the rows of a started graph stand, given back when it has finished."""

import bisect


class Pool:
    """First-fit allocation of row ranges in a space that grows at its end."""

    def __init__(self):
        self.rows = 0  # rows in use, with the gaps between them
        self._gaps: list[tuple[int, int]] = []  # (start, length), sorted and never adjacent

    def allocate(self, length: int) -> int:
        """Reserve `length` rows; returns the first. `rows` tells how large the arrays must be."""
        for i, (start, gap) in enumerate(self._gaps):
            if gap >= length:
                if gap == length:
                    del self._gaps[i]
                else:
                    self._gaps[i] = (start + length, gap - length)
                return start
        start = self.rows
        if self._gaps and sum(self._gaps[-1]) == self.rows:
            start = self._gaps.pop()[0]
        self.rows = start + length
        return start

    def release(self, start: int, length: int) -> None:
        """Give rows back."""
        if length == 0:
            return
        i = bisect.bisect(self._gaps, (start, length))
        if i < len(self._gaps) and self._gaps[i][0] == start + length:
            length += self._gaps.pop(i)[1]
        if i > 0 and sum(self._gaps[i - 1]) == start:
            previous = self._gaps.pop(i - 1)
            start, length = previous[0], length + previous[1]
            i -= 1
        self._gaps.insert(i, (start, length))
