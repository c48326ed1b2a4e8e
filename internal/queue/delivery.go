package queue

import (
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Delivery is one received message. It belongs to its session and is settled once, by Ack or Requeue. Until then the broker keeps
// the message.
type Delivery struct {
	// Body is the message as the broker delivered it.
	Body []byte
	// ReplyTo, CorrelationID and ContentType are message properties of the same names.
	ReplyTo, CorrelationID, ContentType string
	// Headers is a copy of the message's headers; nested tables are maps of the same type.
	Headers map[string]any
	// Redelivered is true if the message may have been delivered before. If it is false, this is the first delivery.
	Redelivered bool
	// Received is when the message arrived.
	Received time.Time

	session  *session
	raw      amqp.Acknowledger
	tag      uint64
	settled  atomic.Bool
	released atomic.Bool
	// release frees the slot of the delivery, and outcome counts how it was settled.
	release func()
	outcome func(string)
}

// Ack makes the broker forget the message. Call it after the message is stored durably. ErrSessionGone means that the broker will
// deliver the message again. A nil error does not prove that the broker received the ack: AMQP does not confirm it.
func (d *Delivery) Ack() error {
	return d.settle(settledAck, func() error { return d.raw.Ack(d.tag, false) })
}

// Requeue puts the message back into the queue at once. It is for a process that stops. After any other failure return an error from
// the handler, which waits before the next try.
func (d *Delivery) Requeue() error {
	return d.settle(settledRequeue, func() error { return d.raw.Nack(d.tag, false, true) })
}

func (d *Delivery) settle(outcome string, send func() error) error {
	if d.settled.Swap(true) {
		return ErrSettled
	}
	// The slot is freed before the broker can send the next message.
	d.releaseSlot()
	if d.session.ended.Load() {
		d.outcome(settledGone)
		return ErrSessionGone
	}
	if err := sessionError(send()); err != nil {
		d.outcome(settledGone)
		return err
	}
	d.outcome(outcome)
	return nil
}

// releaseSlot frees the slot of the delivery. Only the first call does.
func (d *Delivery) releaseSlot() {
	if !d.released.Swap(true) {
		d.release()
	}
}
