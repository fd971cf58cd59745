"""The sympy symbols of the theory chapters: the paper's letters, each with the assumptions that its meaning gives it.

Unknowns that a derivation solves for (``u``, ``W_i0``, ...) are real, never positive: some are negative, and
``sympy.solve`` returns no solution for a negative one that is declared positive.
"""

import sympy

T, v, tau, N = sympy.symbols("T v tau N", positive=True)
p_m, p_c, p_r = sympy.symbols("p_m p_c p_r", positive=True)
m, a, r = sympy.symbols("m a r", positive=True)
c_1, c_2, c_3 = sympy.symbols("c_1 c_2 c_3", positive=True)
u = sympy.Symbol("u", real=True)
W_i0, W_own, W_other = sympy.symbols("W_i0 W_own W_other", real=True)
W_same, W_diff = sympy.symbols("W_same W_diff", real=True)
lambda_, eta, t = sympy.symbols("lambda eta t", positive=True)
s_0, kappa = sympy.symbols("s_0 kappa", positive=True)
alpha, beta, s, y = sympy.symbols("alpha beta s y", positive=True)
q = sympy.Symbol("q", nonnegative=True)
W_00, u_0 = sympy.symbols("W_00 u_0", real=True)
S_1, S_2, S_rest, S_all = sympy.symbols("S_1 S_2 S_rest S_all", real=True)
E_i0, E_00, u_bar, b_i = sympy.symbols("E_i0 E_00 ubar b_i", real=True)
g = sympy.Symbol("g", real=True)
P_plus, A = sympy.symbols("P_+ A", positive=True)  # P(|M| >= 1); total concentration of a Dirichlet (not attention)
W_mean = sympy.Symbol("W_mean", real=True)  # mean of a row over the words
b, c, S, mu = sympy.symbols("b c S mu", real=True)  # attention: on a word itself, on another of its topic, on the topic; multiplier
theta, psi, theta_I, theta_O = sympy.symbols("theta psi theta_I theta_O", real=True)
F, F_I, F_O, Q_I, Q_O, K, pi_I, pi_O = sympy.symbols("F F_I F_O Q_I Q_O K pi_I pi_O", positive=True)
Y, delta, epsilon = sympy.symbols("Y delta epsilon", positive=True)
