"""Speed against counts of events. A benchmark asserts what was simulated and reports what it cost, never a limit.

`fit_library` is of another kind: it fits constants to what people measured.
"""
