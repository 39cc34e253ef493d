package testenv

// Outbound is a variable of the environment that allows agents and servers to connect to this machine, where all that tests
// start is.
const Outbound = "SLIPWAY_OUTBOUND_ALLOW=127.0.0.0/8,::1,localhost"
