"""The discrete-event engine: a SimPy clock that lets the network go first, and the replay of task graphs."""
