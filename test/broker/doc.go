// Package broker starts a private RabbitMQ for tests and for the demo, from Debian's package rabbitmq-server.
//
// A Broker owns its node, the node's port mapper (epmd) and one folder, and nothing else: it listens on loopback only, on
// ports that were free, and shares no folder, cookie, node name or port with the machine's own RabbitMQ. Everything it
// started is gone after Stop, and also when the process that started it dies without calling Stop.
//
// It is no part of the product and is linked into none of its programs.
package broker
