"""The ten degradations of SLVMEval, one file each, under the name of the aspect they harm."""
