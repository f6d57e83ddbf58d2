r"""Symbols of the paper on the elastic net.

The paper's :math:`\theta` is a model (elsewhere a ratio of coefficients), :math:`m` and :math:`P` count clients and
participants, :math:`\beta` is the smoothness. One round is written with symbols for its beginning (:math:`t-1`) and
its end (:math:`t`); at its beginning everything is given, at its end everything depends on who was drawn.

The text writes :math:`\nabla L_k(\theta_k^t)` for two things: the gradient, and the vector that line 5 of Algorithm 3
stores in its place. They are two symbols here, :math:`\nabla L_k(\theta_k^t)` and :math:`m_k^t`.
"""

from __future__ import annotations

from fltheory.bounds.quantities import family, function, scalar

m = scalar("m", "m", "number of clients", domain="integer>=1")
P = scalar("P", "P", "number of clients drawn per round", domain="integer>=1")
d = scalar("d", "d", "dimension of the model", domain="integer>=1")
beta = scalar("beta", r"\beta", "smoothness of every client's loss", domain="positive")
l1 = scalar("lambda_1", r"\lambda_1", "weight of the l1 penalty on local updates", domain="nonnegative")
epsilon = scalar("epsilon", r"\epsilon", "size up to which entries of an update are sent as 0", domain="nonnegative")
l2 = scalar("lambda_2", r"\lambda_2", "weight of the squared l2 penalty on local updates", domain="positive")

loss = function("loss", "L_{<0>}(<1>)", "loss of a client at a model")
grad = function("grad", r"\nabla L_{<0>}(<1>)", "gradient of a client's loss at a model")
risk = function("risk", r"\mathcal{R}(<0>)", "mean loss of all clients at a model")
x = scalar("x", "x", "any point", shape=("dim",))
theta_star = scalar("theta_star", r"\theta_*", "minimiser of the mean loss", shape=("dim",))

server = scalar("server", r"\theta^{t-1}", "server model that is sent", shape=("dim",))
gamma_old = scalar("gamma_old", r"\gamma^{t-1}", "mean of the participants' models of the round before", shape=("dim",))
gamma_new = scalar("gamma_new", r"\gamma^{t}", "mean of the participants' models", random=True, shape=("dim",))
h_new = scalar("h_new", "h^t", "server memory after the round", random=True, shape=("dim",))
passed = scalar("passed", "t", "number of rounds so far", domain="integer>=0")
local_old = family("local_old", r"\theta_{<0>}^{t-1}", "local model before the round", shape=("clients", "dim"))
local_new = family(
    "local_new", r"\theta_{<0>}^{t}", "local model after the round", random=True, shape=("clients", "dim")
)
stored_old = family(
    "stored_old",
    "m_{<0>}^{t-1}",
    "vector that a client stores as its gradient, before the round",
    shape=("clients", "dim"),
)
stored_new = family(
    "stored_new", "m_{<0>}^{t}", "vector that a client stores as its gradient", random=True, shape=("clients", "dim")
)
tilde = family(
    "tilde", r"\tilde\theta_{<0>}^t", "solution of a client's sub-problem, were it drawn", shape=("clients", "dim")
)
sign = family(
    "sign", r"\operatorname{sign}(\tilde\theta_{<0>}^t - \theta^{t-1})", "sign, 0 at 0", shape=("clients", "dim")
)
kick = family(
    "kick",
    "s_{<0>}^t",
    "subgradient of the l1 norm with which the optimality condition holds",
    shape=("clients", "dim"),
)

C_old = scalar("C_old", "C_{t-1}", "mean squared gradient deviation before the round", domain="nonnegative")
C_new = scalar("C_new", "C_t", "mean squared gradient deviation after the round", domain="nonnegative")
drift = scalar("drift", r"\epsilon_t", "mean squared deviation of local models", domain="nonnegative")

kappa = scalar("kappa", r"\kappa", "weight of the gradient deviation in the potential")
kappa_0 = scalar("kappa_0", r"\kappa_0", "decrease of the potential per excess risk")
kappa_prime = scalar("kappa_prime", r"\kappa'", "weight of the l1 term")
