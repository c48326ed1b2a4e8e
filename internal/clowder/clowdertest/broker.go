package clowdertest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"go.uber.org/zap"
)

// reconnectPause is the wait after a lost connection.
const reconnectPause = 500 * time.Millisecond

// broker is Clowder's side of RabbitMQ: it publishes jobs and consumes statuses and heartbeats. It reconnects without limit, as the
// robust connection of the real listeners does.
type broker struct {
	server *Server
	uri    string
	reply  string
	stop   chan struct{}
	ended  sync.WaitGroup

	mu   sync.Mutex
	conn *amqp.Connection
	jobs *amqp.Channel
}

// openBroker connects once, so that a wrong address is an error at the start, and then reconnects after each loss.
func openBroker(s *Server, uri string) (*broker, error) {
	b := &broker{server: s, uri: uri, reply: s.ReplyQueue(), stop: make(chan struct{})}
	lost, err := b.connect()
	if err != nil {
		return nil, fmt.Errorf("connect the double to RabbitMQ: %w", err)
	}
	b.ended.Go(func() { b.reconnect(lost) })
	return b, nil
}

// reconnect waits until the connection is lost and makes a new one.
func (b *broker) reconnect(lost <-chan *amqp.Error) {
	for {
		select {
		case <-b.stop:
			return
		case cause := <-lost:
			b.server.log.Info("lost the connection to RabbitMQ", zap.Any("cause", cause))
		}
		for {
			var err error
			if lost, err = b.connect(); err == nil {
				break
			}
			select {
			case <-b.stop:
				return
			case <-time.After(reconnectPause):
			}
		}
	}
}

// connect declares what the real listeners declare and consumes both queues.
func (b *broker) connect() (<-chan *amqp.Error, error) {
	conn, err := amqp.Dial(b.uri)
	if err != nil {
		return nil, err
	}
	lost := conn.NotifyClose(make(chan *amqp.Error, 1))
	publish, err := b.declare(conn)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-b.stop:
		return nil, errors.Join(errors.New("the double is closed"), conn.Close())
	default:
	}
	b.conn, b.jobs = conn, publish
	return lost, nil
}

func (b *broker) declare(conn *amqp.Connection) (*amqp.Channel, error) {
	ch, err := conn.Channel()
	if err != nil {
		return nil, err
	}
	if err := ch.ExchangeDeclare("extractors", "fanout", true, false, false, false, nil); err != nil {
		return nil, err
	}
	beats, err := ch.QueueDeclare("", false, false, true, false, nil)
	if err != nil {
		return nil, err
	}
	if err := ch.QueueBind(beats.Name, "", "extractors", false, nil); err != nil {
		return nil, err
	}
	// v2 declares a direct exchange and v1 a topic exchange with the same name, so both cannot share a virtual host.
	kind := amqp.ExchangeDirect
	if b.server.opts.Version == 1 {
		kind = amqp.ExchangeTopic
	}
	if err := ch.ExchangeDeclare(b.server.opts.Exchange, kind, true, false, false, false, nil); err != nil {
		return nil, err
	}
	if _, err := ch.QueueDeclare(b.reply, true, false, false, false, nil); err != nil {
		return nil, err
	}
	if err := ch.QueueBind(b.reply, b.reply, b.server.opts.Exchange, false, nil); err != nil {
		return nil, err
	}
	beat := func(d amqp.Delivery) error { return b.server.handleHeartbeat(d.Body) }
	status := func(d amqp.Delivery) error { return b.server.receiveStatus(d.Body, d.Redelivered) }
	if b.server.opts.Version == 1 {
		beat = func(d amqp.Delivery) error { return b.server.v1Heartbeat(d.Body) }
		status = func(d amqp.Delivery) error { return b.server.v1ReceiveStatus(d.Body, d.Redelivered) }
	}
	if err := b.consume(ch, beats.Name, beat, false); err != nil {
		return nil, err
	}
	if err := b.consume(ch, b.reply, status, b.server.opts.LoseOrder); err != nil {
		return nil, err
	}
	return conn.Channel()
}

// consume handles messages one after the other, or concurrently. Messages that handle refuses are rejected and dropped.
func (b *broker) consume(ch *amqp.Channel, queue string, handle func(amqp.Delivery) error, atOnce bool) error {
	deliveries, err := ch.Consume(queue, "", false, false, false, false, nil)
	if err != nil {
		return err
	}
	settle := func(d amqp.Delivery) {
		err := handle(d)
		if err == nil {
			_ = d.Ack(false) // after a lost connection the message is delivered again
			return
		}
		b.server.log.Info("dropped a message, as Clowder does", zap.String("queue", queue), zap.Error(err))
		_ = d.Reject(false) // the same
	}
	b.ended.Go(func() {
		var running sync.WaitGroup
		defer running.Wait()
		for d := range deliveries {
			if atOnce {
				running.Go(func() { settle(d) })
			} else {
				settle(d)
			}
		}
	})
	return nil
}

// publish sends a job as v2 does: transient, not mandatory, unconfirmed.
func (b *broker) publish(queue string, body []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return b.jobs.PublishWithContext(ctx, "", queue, false, false, amqp.Publishing{
		ContentType: "application/json", DeliveryMode: amqp.Transient, ReplyTo: b.reply, Body: body,
	})
}

func (b *broker) close() {
	close(b.stop)
	b.mu.Lock()
	_ = b.conn.Close() // it may be lost
	b.mu.Unlock()
	b.ended.Wait()
}
