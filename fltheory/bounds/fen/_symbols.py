r"""Letters of the paper on the elastic net.

The paper's :math:`\theta` is a model (elsewhere a ratio of coefficients), :math:`m` and :math:`P` count clients and
participants, :math:`\beta` is the smoothness. One round is written with letters for its beginning (:math:`t-1`) and
its end (:math:`t`); at its beginning everything is given, at its end everything depends on who was drawn.

The text writes :math:`\nabla L_k(\theta_k^t)` for two things: the gradient, and the vector that line 5 of Algorithm 3
stores in its place. They are two letters here, :math:`\nabla L_k(\theta_k^t)` and :math:`m_k^t`.
"""

from __future__ import annotations

from fltheory.bounds._algebra import family, function, scalar

m = scalar("fen_m", "m", "number of clients")
P = scalar("fen_P", "P", "number of clients drawn per round")
d = scalar("fen_d", "d", "dimension of the model")
beta = scalar("fen_beta", r"\beta", "smoothness of every client's loss")
l1 = scalar("fen_l1", r"\lambda_1", "weight of the l1 penalty on local updates")
epsilon = scalar("fen_epsilon", r"\epsilon", "size up to which entries of an update are sent as 0")
l2 = scalar("fen_l2", r"\lambda_2", "weight of the squared l2 penalty on local updates")

loss = function("fen_loss", "L_{<0>}(<1>)", "loss of a client at a model")
grad = function("fen_grad", r"\nabla L_{<0>}(<1>)", "gradient of a client's loss at a model")
risk = function("fen_risk", r"\mathcal{R}(<0>)", "mean loss of all clients at a model")
x = scalar("fen_x", "x", "any point")
theta_star = scalar("fen_theta_star", r"\theta_*", "minimiser of the mean loss")

server = scalar("fen_server", r"\theta^{t-1}", "server model that is sent")
gamma_old = scalar("fen_gamma_old", r"\gamma^{t-1}", "mean of the participants' models of the round before")
gamma_new = scalar("fen_gamma_new", r"\gamma^{t}", "mean of the participants' models", random=True)
h_new = scalar("fen_h_new", "h^t", "server memory after the round", random=True)
passed = scalar("fen_t", "t", "number of rounds so far")
local_old = family("fen_local_old", r"\theta_{<0>}^{t-1}", "local model before the round")
local_new = family("fen_local_new", r"\theta_{<0>}^{t}", "local model after the round", random=True)
stored_old = family("fen_stored_old", "m_{<0>}^{t-1}", "vector that a client stores as its gradient, before the round")
stored_new = family("fen_stored_new", "m_{<0>}^{t}", "vector that a client stores as its gradient", random=True)
tilde = family("fen_tilde", r"\tilde\theta_{<0>}^t", "solution of a client's sub-problem, were it drawn")
sign = family("fen_sign", r"\operatorname{sign}(\tilde\theta_{<0>}^t - \theta^{t-1})", "sign, 0 at 0")
kick = family("fen_kick", "s_{<0>}^t", "subgradient of the l1 norm with which the optimality condition holds")

C_old = scalar("fen_C_old", "C_{t-1}", "mean squared gradient deviation before the round")
C_new = scalar("fen_C_new", "C_t", "mean squared gradient deviation after the round")
drift = scalar("fen_drift", r"\epsilon_t", "mean squared deviation of local models")

kappa = scalar("fen_kappa", r"\kappa", "weight of the gradient deviation in the potential")
kappa_0 = scalar("fen_kappa_0", r"\kappa_0", "decrease of the potential per excess risk")
kappa_prime = scalar("fen_kappa_prime", r"\kappa'", "weight of the l1 term")
