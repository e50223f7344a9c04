"""Whole studies that anybody can run again: a grid of experiments, and the tables, pictures and words made of it."""
