// Package queue connects a process to RabbitMQ: it receives deliveries and settles them, publishes with confirms, and announces the
// process periodically.
//
// A session is one connection with its channels. Its number is the epoch. A delivery belongs to its session: to settle it after the
// session has ended returns ErrSessionGone and does nothing else. For this reason the recovery of the client library stays off. It
// would reopen a channel under the same deliveries, RabbitMQ would count delivery tags from 1 again, and a late ack would remove
// another message without an error.
//
// There are two connections, and each reconnects on its own. A Consumer receives deliveries and acknowledges them. A Publisher
// publishes. A broker that is short of memory or disk blocks the connections that publish, and acks must continue.
//
// Promises:
//
//   - A delivery is passed on unchanged, possibly more than once.
//   - Publish returns nil only after the broker has confirmed the message and has not returned it.
//   - A process never holds more deliveries than it has free slots. Other messages stay in RabbitMQ, where they can be seen and
//     removed.
//   - Errors of the network and of the broker are retried without limit. Run returns early only if a person must change something,
//     with a ConfigError of one line.
//
// The package does not know the content of a message body.
package queue
