"""Operators: the ten degradations of SLVMEval, and the families of their aspects."""
