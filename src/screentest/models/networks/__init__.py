"""Networks on this machine: loading, running, sharing what they answered."""
