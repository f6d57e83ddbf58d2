"""What is measured: one module per job, each with a function ``run`` that returns tables."""
