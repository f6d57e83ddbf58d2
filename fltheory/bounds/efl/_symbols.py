r"""Letters of the papers on elastic federated learning.

The proofs follow those on flexible participation, and letters that mean the same are shared with them. So the papers'
:math:`\omega` is printed as :math:`w`, their :math:`\widetilde F_k` as :math:`F_k`, and their
:math:`D_k = \widetilde F_k(\omega^*) - \widetilde F_k^*` as :math:`\Gamma_k`.
"""

from __future__ import annotations

from fltheory.bounds._algebra import family, scalar

gamma = scalar("efl_gamma", r"\gamma", "offset in the denominators of learning rate and bound")
C = scalar("efl_C", r"C_\tau", "constant of the part of the bound that falls like the squared inverse")
J = scalar("efl_J", "J", "constant of the part of the bound that comes from heterogeneous participation")
H = scalar("efl_H", r"H_\tau", "number of rounds so far whose participation was heterogeneous")
r_tau = scalar("efl_r_tau", r"r_\tau", "whether the participation of the round is heterogeneous")
M = scalar(
    "efl_M", r"\mathbb{E}[\sum_{k=1}^{N} p_\tau^k s_\tau^k]", "expected sum of coefficients times steps, any round"
)
distance = scalar("efl_distance", r"\mathbb{E}\|w_{\tau E}^G - w^*\|^2", "expected squared distance to the minimiser")
start = scalar("efl_start", r"\mathbb{E}\|w_0^G - w^*\|^2", "expected squared distance to the minimiser at the start")

vector = scalar("efl_T", "T", "vector that is compressed")
sent = scalar("efl_ST", r"\mathrm{ST}(T)", "the vector after sparse ternary compression")
level = scalar("efl_level", r"\mu_{\mathrm{ST}}", "magnitude of the entries that are sent")
length = scalar("efl_n", "n", "length of the vector that is compressed")
kept = scalar("efl_kept", r"|\{j : |T_j| \ge e\}|", "number of entries that are kept")
asked = scalar("efl_k", "k", "number of entries to be sent")

server = family("efl_server", r"w_{<0> E}^G", "model of the server before a round", first=0)
client = family("efl_client", r"w_{<0> E}^k", "the clients' copy of the model before a round", first=0)
virtual = family("efl_virtual", r"\bar w_{<0> E}", "virtual model before a round, without residuals", first=0)
residual = family("efl_residual", r"R_{<0> E}^G", "residual of the server before a round", first=0)
residual_k = family("efl_residual_k", r"R_{<0> E}^{<1>}", "residual of a client before a round", first=(0, 1))
received = family("efl_received", r"U_{<0>}", "weighted sum of what the server receives in a round", first=0)
coefficient = family(
    "efl_coefficient", r"p_{<0>}^{<1>}", "aggregation coefficient of a client in a round", first=(0, 1)
)
rounds = scalar("efl_rounds", "T", "number of rounds")
