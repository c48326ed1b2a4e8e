package main

import (
	"context"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/ncsa/clowder-ray/cmd/extractor/settings"
	"github.com/ncsa/clowder-ray/internal/clowder/form"
	"github.com/ncsa/clowder-ray/internal/pipeline"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/queue"
)

// endpoint connects one extractor to the broker: the consumer receives its jobs, and the publisher announces it.
type endpoint struct {
	consumer  *queue.Consumer
	publisher *queue.Publisher
}

// endpoints are the endpoints of all extractors, in their order.
type endpoints []endpoint

// newPublishers returns a publisher for each extractor, which announces it to Clowder.
func newPublishers(set settings.Settings, all platform.Extractors, instance string, log *zap.Logger, m *queue.Metrics) (endpoints, error) {
	out := make(endpoints, len(all))
	owner := form.Owner{Email: set.ClowderEmail, Key: set.ExtractorKey.Reveal()}
	for i, e := range all {
		var err error
		out[i].publisher, err = queue.NewPublisher(brokerConfig(set, e), queue.Announcement{
			Exchange: heartbeats, Every: set.Heartbeat,
			Body:    func() []byte { return e.Info.Heartbeat(e.Queue, owner, instance) },
			Binding: queue.Binding{Exchange: set.RabbitMQExchange, Key: "extractors." + e.Queue},
		}, log, m)
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// addConsumers adds a consumer for each extractor, which passes its jobs to pipe.
func (es endpoints) addConsumers(set settings.Settings, all platform.Extractors, pipe *pipeline.Pipeline, log *zap.Logger, m *queue.Metrics) error {
	for i, e := range all {
		intake := pipe.NewIntake(e, es[i].publisher, set.ClowderVersion)
		var err error
		if es[i].consumer, err = queue.NewConsumer(brokerConfig(set, e), intake, intake.Handle, log, m); err != nil {
			return err
		}
	}
	return nil
}

func brokerConfig(set settings.Settings, e platform.Extractor) queue.Config {
	return queue.Config{URI: set.RabbitMQURI, Queue: e.Queue, ConnectionName: "clowder-ray " + e.Queue, CAFile: set.RabbitMQCA}
}

// waitingOn returns a function that counts the messages in a queue of the broker.
func waitingOn(set settings.Settings) func(context.Context, string) (int, error) {
	return func(ctx context.Context, name string) (int, error) {
		return queue.Depth(ctx, brokerConfig(set, platform.Extractor{Queue: name}))
	}
}

// ready reports whether all sessions with the broker are up.
func (es endpoints) ready() bool {
	for _, e := range es {
		if !e.consumer.Ready() || !e.publisher.Ready() {
			return false
		}
	}
	return true
}

// consume receives jobs for all extractors until ctx ends. The first consumer that fails permanently ends the others.
func (es endpoints) consume(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, e := range es {
		group.Go(func() error { return e.consumer.Run(ctx) })
	}
	return group.Wait()
}

// publish announces each extractor and sends statuses until ctx ends. It announces an extractor only once its queue exists, since
// Clowder's messages would be lost before that.
func (es endpoints) publish(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, e := range es {
		group.Go(func() error {
			select {
			case <-e.consumer.Declared():
				return e.publisher.Run(ctx)
			case <-ctx.Done():
				return nil
			}
		})
	}
	return group.Wait()
}
