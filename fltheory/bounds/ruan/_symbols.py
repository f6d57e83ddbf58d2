"""Letters of the paper on flexible participation."""

from __future__ import annotations

from fltheory.bounds._algebra import family, scalar

p_tau = family("p_tau", r"p_\tau^{<0>}", "aggregation coefficient of a client in the round")
s_tau = family("s_tau", r"s_\tau^{<0>}", "local steps that a client completes in the round")
theta = scalar("theta", r"\theta", "bound on the ratio of aggregation coefficient and objective weight")
g = family("g", "g_t^{<0>}", "stochastic gradient of a client at time t", random=True)
g_bar = family("g_bar", r"\bar g_t^{<0>}", "full gradient of a client at time t")
