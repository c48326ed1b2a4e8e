package clowdertest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// publishV1 sends a job as v1 does: straight to the queue, durable, with a correlation id. If there is no such queue, the message is lost.
func (b *broker) publishV1(queue string, body []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return b.jobs.PublishWithContext(ctx, "", queue, false, false, amqp.Publishing{
		ContentType: "application/json", DeliveryMode: amqp.Persistent, ReplyTo: b.reply, CorrelationId: newUUID(), Body: body,
	})
}

// v1Cancel looks for a waiting message. It answers before it has looked.
func (s *Server) v1Cancel(_ http.ResponseWriter, r *http.Request, c v1Caller) *v1Answer {
	var in struct {
		Extractor string `json:"extractor"`
	}
	if json.NewDecoder(r.Body).Decode(&in) != nil || in.Extractor == "" {
		return v1Bad("Missing parameter [extractor]")
	}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	id, message := r.PathValue("id"), r.PathValue("m")
	if _, no := s.v1Allowed(id, c, v1Edit); no != nil {
		return no
	}
	var job string
	for _, e := range s.state.v1.events {
		if e.ID == message {
			job = e.JobID
		}
	}
	note := func(text string) {
		s.state.v1.events = append(s.state.v1.events, Event{ResourceID: id, Extractor: in.Extractor, JobID: job, Text: text, ID: newID()})
	}
	note("Cancel Requested")
	if s.broker != nil {
		s.later(func() {
			found, err := s.broker.take(in.Extractor, message)
			if err != nil {
				return // the queue does not exist: nothing more is said
			}
			s.state.mu.Lock()
			defer s.state.mu.Unlock()
			if found {
				note("Cancel Success")
			} else {
				note("Cancel Failed")
			}
		})
	}
	return v1OK(map[string]string{"status": "OK"})
}

// take removes the message with an id from a queue. The messages before it are published to the topic exchange with the routing key in their
// body and without their properties: they are lost, or come to the end of the queue if it is bound to that exchange.
func (b *broker) take(queue, id string) (found bool, err error) {
	b.mu.Lock()
	conn := b.conn
	b.mu.Unlock()
	ch, err := conn.Channel()
	if err != nil {
		return false, fmt.Errorf("open a channel: %w", err)
	}
	defer func() { _ = ch.Close() }()
	var before []amqp.Delivery
	for !found {
		d, more, err := ch.Get(queue, true)
		if err != nil {
			return false, fmt.Errorf("read %s: %w", queue, err)
		}
		if !more {
			break
		}
		var m v1Message
		if found = json.Unmarshal(d.Body, &m) == nil && m.MsgID == id; !found {
			before = append(before, d)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for _, d := range before {
		var m v1Message
		_ = json.Unmarshal(d.Body, &m) // anything else has no routing key
		if err := ch.PublishWithContext(ctx, b.server.opts.Exchange, m.RoutingKey, false, false, amqp.Publishing{
			ContentType: d.ContentType, DeliveryMode: amqp.Persistent, Body: d.Body,
		}); err != nil {
			return found, fmt.Errorf("publish a message again: %w", err)
		}
	}
	return found, nil
}

// v1Added tells each extractor that lists such events of a new file. In a real Clowder v1 an administrator must have enabled it for them.
func (s *Server) v1Added(id string, c v1Caller) {
	s.state.mu.Lock()
	var messages []v1Message
	var names []string
	f := s.state.files[id]
	for name, info := range s.state.v1.extractors {
		process, _ := info["process"].(map[string]any)
		events, _ := process["dataset"].([]any)
		if f == nil || !slices.Contains(events, any("file.added")) {
			continue
		}
		m := s.v1Message(c, name, "'file", f.ID)
		m.DatasetID, m.FileSize, m.Activity, m.RoutingKey, m.Action = f.DatasetID, "0", "added", "clowder.dataset.file.added", ""
		names, messages = append(names, name), append(messages, m)
	}
	s.state.mu.Unlock()
	for i, m := range messages {
		s.v1Dispatch(names[i], m)
	}
}
