r"""Symbols of the papers on elastic federated learning.

The proofs follow those on flexible participation, and symbols that mean the same are shared with them. So the papers'
:math:`\omega` is printed as :math:`w`, their :math:`\widetilde F_k` as :math:`F_k`, and their
:math:`D_k = \widetilde F_k(\omega^*) - \widetilde F_k^*` as :math:`\Gamma_k`.
"""

from __future__ import annotations

from fltheory.bounds.quantities import family, scalar

gamma = scalar("gamma", r"\gamma", "offset in the denominators of learning rate and bound", domain="positive")
C = scalar("C_tau", r"C_\tau", "constant of the part of the bound that falls like the squared inverse")
J = scalar(
    "J", "J", "constant of the part of the bound that comes from heterogeneous participation", domain="nonnegative"
)
H = scalar("H_tau", r"H_\tau", "number of rounds so far whose participation was heterogeneous", domain="nonnegative")
r_tau = scalar("r_tau", r"r_\tau", "whether the participation of the round is heterogeneous", domain="binary")
M = scalar(
    "mean_ps",
    r"\mathbb{E}[\sum_{k=1}^{N} p_\tau^k s_\tau^k]",
    "expected sum of coefficients times steps, any round",
    domain="nonnegative",
)
distance = scalar(
    "distance_sq",
    r"\mathbb{E}\|w_{\tau E}^G - w^*\|^2",
    "expected squared distance to the minimiser",
    domain="nonnegative",
)
start = scalar(
    "start_sq",
    r"\mathbb{E}\|w_0^G - w^*\|^2",
    "expected squared distance to the minimiser at the start",
    domain="nonnegative",
)

vector = scalar("T", "T", "vector that is compressed", shape=("dim",))
sent = scalar("ST", r"\mathrm{ST}(T)", "the vector after sparse ternary compression", shape=("dim",))
level = scalar("level", r"\mu_{\mathrm{ST}}", "magnitude of the entries that are sent", domain="nonnegative")
length = scalar("length", "n", "length of the vector that is compressed", domain="integer>=1")
kept = scalar("kept", r"|\{j : |T_j| \ge e\}|", "number of entries that are kept", domain="integer>=0")
asked = scalar("asked", "k", "number of entries to be sent", domain="integer>=1")

server = family("server", r"w_{<0> E}^G", "model of the server before a round", first=0, shape=("rounds", "dim"))
client = family(
    "client", r"w_{<0> E}^k", "the clients' copy of the model before a round", first=0, shape=("rounds", "dim")
)
virtual = family(
    "virtual", r"\bar w_{<0> E}", "virtual model before a round, without residuals", first=0, shape=("rounds", "dim")
)
residual = family("residual", r"R_{<0> E}^G", "residual of the server before a round", first=0, shape=("rounds", "dim"))
residual_k = family(
    "residual_k",
    r"R_{<0> E}^{<1>}",
    "residual of a client before a round",
    first=(0, 1),
    shape=("rounds", "clients", "dim"),
)
received = family(
    "received", r"U_{<0>}", "weighted sum of what the server receives in a round", first=0, shape=("rounds", "dim")
)
coefficient = family(
    "coefficient",
    r"p_{<0>}^{<1>}",
    "aggregation coefficient of a client in a round",
    first=(0, 1),
    shape=("rounds", "clients"),
    domain="nonnegative",
)
rounds = scalar("rounds", "T", "number of rounds", domain="integer>=0")
