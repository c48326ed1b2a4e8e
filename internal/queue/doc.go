// Package queue keeps a process in touch with RabbitMQ: it hands over deliveries, settles them, publishes with confirms
// and announces the process again and again.
//
// A session is one connection with its channels and a number, the epoch. Nothing outlives it: a delivery belongs to its
// session, and settling it after the session's end returns ErrSessionGone and touches nothing else. That is why the
// client's own recovery stays off: it reopens a channel under the same deliveries, RabbitMQ counts delivery tags from 1
// again, and a late ack removes somebody else's message without an error.
//
// There are two connections, each with its own endless reconnect. A Consumer takes deliveries and acknowledges them; a
// Publisher publishes. A broker that is short of memory or disk blocks connections that publish, and acks must go on.
//
// Promises. A delivery is handed over as the broker gave it, possibly more than once. Publish returns nil only after the
// broker confirmed the message and did not return it. A process never holds more deliveries than it has free slots, so
// whatever waits is visible, and can be cancelled, in RabbitMQ. Trouble with the network or the broker is waited out;
// only what a person must change ends Run, with a ConfigError of one line.
//
// The package does not know what is in a body.
package queue
