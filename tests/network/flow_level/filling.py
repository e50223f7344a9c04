"""Max-min fair rates by full progressive filling in plain Python: the oracle of the incremental solver."""

import math


def progressive_filling(capacity: list[float], paths: list[list[tuple[int, float]]]) -> list[float]:
    """Rate of every flow; path = [(link, share), ...]. Raises all flows together, link by link in order of fullness."""
    rates = [math.nan] * len(paths)
    open_flows = set(range(len(paths)))
    while open_flows:
        used = [0.0] * len(capacity)
        weight = [0.0] * len(capacity)
        for f, path in enumerate(paths):
            for link, share in path:
                if f in open_flows:
                    weight[link] += share
                else:
                    used[link] += share * rates[f]
        level, bottleneck = min(
            (max(capacity[k] - used[k], 0.0) / weight[k], k) for k in range(len(capacity)) if weight[k]
        )
        for f in sorted(open_flows):
            if any(link == bottleneck for link, _ in paths[f]):
                rates[f] = level
                open_flows.discard(f)
    return rates


def check_certificate(capacity, paths, rates, tolerance=1e-9) -> None:
    """Assert max-min fairness: no link over capacity; every flow has a full link on which none is faster."""
    load = [0.0] * len(capacity)
    for path, rate in zip(paths, rates):
        for link, share in path:
            load[link] += share * rate
    for link, total in enumerate(load):
        assert total <= capacity[link] * (1 + tolerance), f"link {link} carries {total} of {capacity[link]}"
    for f, path in enumerate(paths):
        held = [
            link
            for link, _ in path
            if load[link] >= capacity[link] * (1 - tolerance)
            and all(
                rates[g] <= rates[f] * (1 + tolerance)
                for g, other in enumerate(paths)
                if any(k == link for k, _ in other)
            )
        ]
        assert held, f"flow {f} at rate {rates[f]} is held down by no link"
