"""Letters of the paper on flexible participation."""

from __future__ import annotations

from fltheory.bounds._algebra import family, scalar

p_tau = family("p_tau", r"p_\tau^{<0>}", "aggregation coefficient of a client in the round")
s_tau = family("s_tau", r"s_\tau^{<0>}", "local steps that a client completes in the round")
theta = scalar("theta", r"\theta", "bound on the ratio of aggregation coefficient and objective weight")
g = family("g", "g_t^{<0>}", "stochastic gradient of a client at time t", random=True)
g_bar = family("g_bar", r"\bar g_t^{<0>}", "full gradient of a client at time t")

gamma = scalar("ruan_gamma", r"\gamma", "offset in the denominators of learning rate and bound")
V = scalar("ruan_V", "V", "constant of the part of the bound that vanishes")
D = scalar("ruan_D", "D", "constant of the part of the bound that comes from heterogeneous participation")
M_tau = scalar("M_tau", r"M_\tau", "number of rounds so far whose participation was heterogeneous")
z_tau = scalar("z_tau", r"z_\tau", "whether the participation of the round is heterogeneous")
mean_ps = scalar(
    "mean_ps", r"\mathbb{E}[\sum_{k=1}^{N} p_\tau^k s_\tau^k]", "expected sum of coefficients times completed steps"
)
p_drawn = family("p_drawn", r"p_\tau^{<0>}", "aggregation coefficient of a client, as drawn in the round", random=True)
s_drawn = family("s_drawn", r"s_\tau^{<0>}", "local steps that a client completes, as drawn in the round", random=True)

active = family("active", r"\alpha_{\tau E+<1>}^{<0>}", "whether a client works in a step of the round", first=(1, 0))
w_loc = family("w_loc", r"w_{\tau E+<1>}^{<0>}", "local model of a client in the round", first=(1, 0), random=True)
w_bar = family("w_bar", r"\bar w_{\tau E+<0>}", "virtual global model in the round", first=0, random=True)
w_start = scalar("w_start", r"\bar w_{\tau E}", "global model at the start of the round")
w_end = scalar("w_end", r"\bar w_{(\tau+1)E}", "global model at the end of the round", random=True)
w_best = scalar("w_best", r"\bar w_{\tau E+l}", "virtual model with the smallest weighted value", random=True)
g_loc = family("g_loc", r"g_{\tau E+<1>}^{<0>}", "stochastic gradient of a client", first=(1, 0), random=True)
g_bar_loc = family("g_bar_loc", r"\bar g_{\tau E+<1>}^{<0>}", "full gradient of a client", first=(1, 0), random=True)
gamma_tau = scalar("gamma_tau", r"\gamma_\tau", "factor of the descent term in one step")

B_tau = scalar("ruan_B_tau", r"B_\tau", "second-order term of the round", random=True)
distance = scalar(
    "ruan_distance", r"\mathbb{E}\|w_{\tau E}^{\mathcal{G}} - w^*\|^2", "expected squared distance to the minimiser"
)
distance_start = scalar(
    "ruan_distance_start", r"\mathbb{E}\|w_0^{\mathcal{G}} - w^*\|^2", "expected squared distance at the start"
)
mean_ps_at = family(
    "mean_ps_at",
    r"\mathbb{E}\left[\sum_{k=1}^{N} p_{<0>}^k s_{<0>}^k\right]",
    "expected sum of coefficients times completed steps in a round",
    first=0,
)

mean_B = scalar("mean_B", r"\mathbb{E}[B_\tau]", "expected noise and drift of a round")
mean_ps_Gamma = scalar(
    "mean_ps_Gamma", r"\sum_{k=1}^{N} \mathbb{E}[p_\tau^k s_\tau^k] \Gamma_k", "expected heterogeneity of a round"
)
M_next = scalar("M_next", r"M_{\tau+1}", "number of rounds with heterogeneous participation, this one included")
Delta_start = scalar(
    "Delta_start", r"\mathbb{E}[\bar\Delta_0]", "expected squared distance from the minimiser at the start"
)
Delta_now = scalar("Delta_now", r"\mathbb{E}[\bar\Delta_{\tau E}]", "expected squared distance before the round")
Delta_later = scalar("Delta_later", r"\mathbb{E}[\bar\Delta_{(\tau+1)E}]", "expected squared distance after the round")

Delta_before = scalar("Delta_before", r"\bar\Delta_{\tau E}", "squared distance before the round")
Delta_after = scalar(
    "Delta_after", r"\bar\Delta_{(\tau+1)E}", "mean squared distance after the round, given participation", random=True
)
H_given = scalar("H_given", r"\bar H_\tau", "mean squared length of the path, given participation", random=True)
gradient_sq_given = scalar(
    "gradient_sq_given",
    r"\max_{k,i}\mathbb{E}_\xi\|g_{\tau E+i}^k\|^2",
    "largest mean squared norm of a stochastic gradient of the round, given participation",
    random=True,
)
C_given = scalar("C_given", r"\bar C_\tau", "mean second-order term of (45), given participation", random=True)
active_drawn_at = family(
    "active_drawn_at",
    r"\alpha_{\tau E+<1>}^{<0>}",
    "whether a client works in a step, as drawn",
    first=(1, 0),
    random=True,
)
