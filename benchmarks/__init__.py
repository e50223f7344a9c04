"""Speed against counts of events. A benchmark asserts what was simulated and reports what it cost, never a limit."""
