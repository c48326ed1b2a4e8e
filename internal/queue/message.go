package queue

import (
	"errors"
	"fmt"
	"maps"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/ncsa/clowder-ray/internal/job"
)

// Message is something to publish. It is always sent persistent and mandatory.
type Message struct {
	// Exchange and RoutingKey say where it goes; the empty exchange takes the routing key for a queue's name.
	Exchange, RoutingKey string
	Body                 []byte
	// ContentType is application/json if it is empty.
	ContentType            string
	CorrelationID, ReplyTo string
	// Headers may hold strings, booleans, numbers, times, byte slices, lists of these, and maps like itself.
	Headers map[string]any
}

// publishing is the message in the client's terms.
func (m Message) publishing() (amqp.Publishing, error) {
	headers, err := table(m.Headers)
	if err != nil {
		return amqp.Publishing{}, job.Permanent(fmt.Errorf("headers of the message to %q: %w", m.RoutingKey, err))
	}
	if m.ContentType == "" {
		m.ContentType = "application/json"
	}
	return amqp.Publishing{
		Headers: headers, ContentType: m.ContentType, CorrelationId: m.CorrelationID, ReplyTo: m.ReplyTo, Body: m.Body,
		DeliveryMode: amqp.Persistent,
	}, nil
}

// maxDepth bounds nested headers; no honest sender nests them.
const maxDepth = 16

var errDepth = errors.New("they are nested too deeply")

// table copies headers into the client's type, and refuses what AMQP cannot carry.
func table(headers map[string]any) (amqp.Table, error) {
	if len(headers) == 0 {
		return nil, nil
	}
	copied, err := toAMQP(headers, 0)
	if err != nil {
		return nil, err
	}
	out := copied.(amqp.Table)
	return out, out.Validate()
}

func toAMQP(v any, depth int) (any, error) {
	if depth > maxDepth {
		return nil, errDepth
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(amqp.Table, len(v))
		for key, value := range v {
			var err error
			if out[key], err = toAMQP(value, depth+1); err != nil {
				return nil, err
			}
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i, value := range v {
			var err error
			if out[i], err = toAMQP(value, depth+1); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}

// plain copies headers that came with a message, so that nobody outside this package meets the client's types. What is
// nested too deeply is left out.
func plain(headers amqp.Table) map[string]any {
	if len(headers) == 0 {
		return nil
	}
	out, _ := fromAMQP(headers, 0).(map[string]any)
	return out
}

func fromAMQP(v any, depth int) any {
	if depth >= maxDepth {
		return nil
	}
	switch v := v.(type) {
	case amqp.Table:
		out := maps.Clone(map[string]any(v))
		for key, value := range v {
			out[key] = fromAMQP(value, depth+1)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, value := range v {
			out[i] = fromAMQP(value, depth+1)
		}
		return out
	case []byte:
		return append([]byte(nil), v...)
	}
	return v
}
