package queue

import (
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Delivery is one message in our hands. It belongs to the session that brought it and is settled once, by Ack or Requeue;
// until then the broker keeps the message.
type Delivery struct {
	// Body is the message as the broker gave it.
	Body []byte
	// ReplyTo, CorrelationID and ContentType are the message's properties of these names.
	ReplyTo, CorrelationID, ContentType string
	// Headers is a copy of the message's headers; nested tables are maps of the same type.
	Headers map[string]any
	// Redelivered says that the message may have been in somebody's hands before; false means surely not.
	Redelivered bool
	// Received is when it came to us.
	Received time.Time

	session *session
	raw     amqp.Acknowledger
	tag     uint64
	settled atomic.Bool
	onOnce  atomic.Bool
	// release returns the delivery's place; outcome counts what became of it.
	release func()
	outcome func(string)
}

// Ack tells the broker that the message is safe with us. It must come after that is true. ErrSessionGone means that the
// broker will deliver the message again. A nil error is no proof that the broker took the ack: there is none in AMQP.
func (d *Delivery) Ack() error {
	return d.settle(settledAck, func() error { return d.raw.Ack(d.tag, false) })
}

// Requeue puts the message back for the next consumer, at once. It is for a message that this process will not take,
// because it stops. For trouble of any other kind return an error from the handler: that waits before the next try.
func (d *Delivery) Requeue() error {
	return d.settle(settledRequeue, func() error { return d.raw.Nack(d.tag, false, true) })
}

func (d *Delivery) settle(outcome string, send func() error) error {
	if d.settled.Swap(true) {
		return ErrSettled
	}
	// The place is free before the broker can send the next message, so that the next one finds it free.
	d.free()
	if d.session.over.Load() {
		d.outcome(settledGone)
		return ErrSessionGone
	}
	if err := gone(send()); err != nil {
		d.outcome(settledGone)
		return err
	}
	d.outcome(outcome)
	return nil
}

// free returns the place of the delivery, once.
func (d *Delivery) free() {
	if !d.onOnce.Swap(true) {
		d.release()
	}
}
