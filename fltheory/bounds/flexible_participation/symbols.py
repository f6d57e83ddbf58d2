"""Symbols of analyses with flexible participation."""

from __future__ import annotations

from fltheory.bounds.quantities import family, scalar

p_tau = family(
    "p_tau",
    r"p_\tau^{<0>}",
    "aggregation coefficient of a client in the round",
    shape=("clients",),
    domain="nonnegative",
)
s_tau = family(
    "s_tau",
    r"s_\tau^{<0>}",
    "local steps that a client completes in the round",
    shape=("clients",),
    domain="integer>=0",
)
theta = scalar(
    "theta", r"\theta", "bound on the ratio of aggregation coefficient and objective weight", domain="positive"
)
g = family("g", "g_t^{<0>}", "stochastic gradient of a client at time t", random=True, shape=("clients", "dim"))
g_bar = family("g_bar", r"\bar g_t^{<0>}", "full gradient of a client at time t", shape=("clients", "dim"))

gamma = scalar("gamma", r"\gamma", "offset in the denominators of learning rate and bound", domain="positive")
V = scalar("V", "V", "constant of the part of the bound that vanishes", domain="nonnegative")
D = scalar(
    "D", "D", "constant of the part of the bound that comes from heterogeneous participation", domain="nonnegative"
)
M_tau = scalar(
    "M_tau", r"M_\tau", "number of rounds so far whose participation was heterogeneous", domain="nonnegative"
)
z_tau = scalar("z_tau", r"z_\tau", "whether the participation of the round is heterogeneous", domain="binary")
mean_ps = scalar(
    "mean_ps",
    r"\mathbb{E}[\sum_{k=1}^{N} p_\tau^k s_\tau^k]",
    "expected sum of coefficients times completed steps",
    domain="nonnegative",
)
p_drawn = family(
    "p_drawn",
    r"p_\tau^{<0>}",
    "aggregation coefficient of a client, as drawn in the round",
    random=True,
    shape=("clients",),
    domain="nonnegative",
)
s_drawn = family(
    "s_drawn",
    r"s_\tau^{<0>}",
    "local steps that a client completes, as drawn in the round",
    random=True,
    shape=("clients",),
    domain="integer>=0",
)

dependence = scalar(
    "dependence",
    r"\varrho",
    "largest correlation between whether a client works in a round, and in another round or gradient noise",
    domain="probability",
)

active = family(
    "active",
    r"\alpha_{\tau E+<1>}^{<0>}",
    "whether a client works in a step of the round",
    first=(1, 0),
    shape=("clients", "steps"),
    domain="binary",
)
w_loc = family(
    "w_loc",
    r"w_{\tau E+<1>}^{<0>}",
    "local model of a client in the round",
    first=(1, 0),
    random=True,
    shape=("clients", "steps", "dim"),
)
w_bar = family(
    "w_bar", r"\bar w_{\tau E+<0>}", "virtual global model in the round", first=0, random=True, shape=("steps", "dim")
)
w_start = scalar("w_start", r"\bar w_{\tau E}", "global model at the start of the round", shape=("dim",))
w_end = scalar("w_end", r"\bar w_{(\tau+1)E}", "global model at the end of the round", random=True, shape=("dim",))
w_best = scalar(
    "w_best", r"\bar w_{\tau E+l}", "virtual model with the smallest weighted value", random=True, shape=("dim",)
)
g_loc = family(
    "g_loc",
    r"g_{\tau E+<1>}^{<0>}",
    "stochastic gradient of a client",
    first=(1, 0),
    random=True,
    shape=("clients", "steps", "dim"),
)
g_bar_loc = family(
    "g_bar_loc",
    r"\bar g_{\tau E+<1>}^{<0>}",
    "full gradient of a client",
    first=(1, 0),
    random=True,
    shape=("clients", "steps", "dim"),
)
gamma_tau = scalar("gamma_tau", r"\gamma_\tau", "factor of the descent term in one step", domain="nonnegative")

B_tau = scalar("B_tau", r"B_\tau", "second-order term of the round", random=True)
distance = scalar(
    "distance_sq",
    r"\mathbb{E}\|w_{\tau E}^{\mathcal{G}} - w^*\|^2",
    "expected squared distance to the minimiser",
    domain="nonnegative",
)
distance_start = scalar(
    "start_sq",
    r"\mathbb{E}\|w_0^{\mathcal{G}} - w^*\|^2",
    "expected squared distance at the start",
    domain="nonnegative",
)
mean_ps_at = family(
    "mean_ps_at",
    r"\mathbb{E}\left[\sum_{k=1}^{N} p_{<0>}^k s_{<0>}^k\right]",
    "expected sum of coefficients times completed steps in a round",
    first=0,
    shape=("rounds",),
    domain="nonnegative",
)

mean_B = scalar("mean_B", r"\mathbb{E}[B_\tau]", "expected noise and drift of a round")
mean_ps_Gamma = scalar(
    "mean_ps_Gamma",
    r"\sum_{k=1}^{N} \mathbb{E}[p_\tau^k s_\tau^k] \Gamma_k",
    "expected heterogeneity of a round",
    domain="nonnegative",
)
M_next = scalar(
    "M_next",
    r"M_{\tau+1}",
    "number of rounds with heterogeneous participation, this one included",
    domain="nonnegative",
)
Delta_start = scalar(
    "Delta_start",
    r"\mathbb{E}[\bar\Delta_0]",
    "expected squared distance from the minimiser at the start",
    domain="nonnegative",
)
Delta_now = scalar(
    "Delta_now", r"\mathbb{E}[\bar\Delta_{\tau E}]", "expected squared distance before the round", domain="nonnegative"
)
Delta_later = scalar(
    "Delta_later",
    r"\mathbb{E}[\bar\Delta_{(\tau+1)E}]",
    "expected squared distance after the round",
    domain="nonnegative",
)

Delta_before = scalar("Delta_before", r"\bar\Delta_{\tau E}", "squared distance before the round", domain="nonnegative")
Delta_after = scalar(
    "Delta_after",
    r"\bar\Delta_{(\tau+1)E}",
    "mean squared distance after the round, given participation",
    random=True,
    domain="nonnegative",
)
H_given = scalar(
    "H_given", r"\bar H_\tau", "mean squared length of the path, given participation", random=True, domain="nonnegative"
)
gradient_sq_given = scalar(
    "gradient_sq_given",
    r"\max_{k,i}\mathbb{E}_\xi\|g_{\tau E+i}^k\|^2",
    "largest mean squared norm of a stochastic gradient of the round, given participation",
    random=True,
    domain="nonnegative",
)
C_given = scalar("C_given", r"\bar C_\tau", "mean second-order term of the round, given participation", random=True)
active_drawn_at = family(
    "active_drawn_at",
    r"\alpha_{\tau E+<1>}^{<0>}",
    "whether a client works in a step, as drawn",
    first=(1, 0),
    random=True,
    shape=("clients", "steps"),
    domain="binary",
)
