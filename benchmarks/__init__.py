"""Benchmarks of morris: what each part costs, with every answer checked.  ``morris bench`` runs them.

They live beside the package and not in it: they compare with ``data/published`` and keep results in
``benchmarks/results``, which only a checkout has.
"""
