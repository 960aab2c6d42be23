"""Runs: the store, the call ledger, and engines that fill them. What is finished stays finished."""
