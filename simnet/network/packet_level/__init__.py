"""Packets, queues, marks, pauses and losses, in compiled kernels: one event per port, lazy service of queues."""
