package queue

import (
	"errors"
	"fmt"
	"maps"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/ncsa/clowder-ray/internal/job"
)

// Message is a message to publish. It is always sent as persistent and mandatory.
type Message struct {
	// Exchange and RoutingKey are the destination. With an empty exchange the routing key is the name of a queue.
	Exchange, RoutingKey string
	Body                 []byte
	// ContentType defaults to application/json.
	ContentType            string
	CorrelationID, ReplyTo string
	// Headers may hold strings, booleans, numbers, times, byte slices, lists of these, and maps like itself.
	Headers map[string]any
}

// publishing converts the message to the type of the client.
func (m Message) publishing() (amqp.Publishing, error) {
	headers, err := toTable(m.Headers)
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

// maxDepth limits nested headers. Clowder does not nest them.
const maxDepth = 16

var errDepth = errors.New("they are nested too deeply")

// toTable copies headers into the type of the client, and refuses values that AMQP cannot carry.
func toTable(headers map[string]any) (amqp.Table, error) {
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

// fromTable copies the headers of a message into plain types, so that the client's types stay inside this package. Values that are
// nested too deeply are left out.
func fromTable(headers amqp.Table) map[string]any {
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
