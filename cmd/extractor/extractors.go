package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/ncsa/clowder-ray/internal/clowder/form"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	clowderray "github.com/ncsa/clowder-ray"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/queue"
)

// extractors reads the forms of the extractors of this service and offers the models that are installed.
func extractors(set Settings, volume volume.Volume) (platform.Extractors, error) {
	train := clowderray.ExtractorInfo
	if set.ExtractorInfo != "" {
		var err error
		if train, err = os.ReadFile(set.ExtractorInfo); err != nil {
			return nil, job.Permanent(fmt.Errorf("EXTRACTOR_INFO: %w", err))
		}
	}
	models, err := volume.Models()
	if err != nil {
		return nil, err
	}
	profiles, err := set.profiles()
	if err != nil {
		return nil, err
	}
	var all platform.Extractors
	for _, source := range []struct {
		kind  platform.Kind
		doc   []byte
		queue string
	}{
		{platform.Train, train, set.RabbitMQQueue},
		{platform.Train, clowderray.AdvancedInfo, set.AdvancedQueue},
		{platform.Predict, clowderray.PredictInfo, set.PredictQueue},
		{platform.Runs, clowderray.RunsInfo, set.RunsQueue},
	} {
		info, err := form.Parse(source.doc)
		if err != nil {
			return nil, job.Permanent(err)
		}
		if info, err = info.WithModels(models); err != nil {
			return nil, job.Permanent(err)
		}
		if source.kind != platform.Runs {
			info, err = info.WithProfiles(profiles)
		}
		if err != nil {
			return nil, job.Permanent(err)
		}
		all = append(all, platform.Extractor{Kind: source.kind, Info: info, Queue: set.Queue(source.queue, info.Name)})
	}
	names, queues := map[string]bool{}, map[string]bool{}
	for _, e := range all {
		names[e.Info.Name], queues[e.Queue] = true, true
	}
	if len(names) < len(all) || len(queues) < len(all) {
		return nil, job.Permanent(errors.New(
			"RABBITMQ_QUEUE, RABBITMQ_ADVANCED_QUEUE, RABBITMQ_PREDICT_QUEUE and RABBITMQ_RUNS_QUEUE: the extractors need different names and queues"))
	}
	return all, nil
}

// endpoint is where the broker meets one extractor: the consumer of its jobs, and the publisher that announces it.
type endpoint struct {
	consumer  *queue.Consumer
	publisher *queue.Publisher
}

// endpoints are those of all extractors, in their order.
type endpoints []endpoint

// newPublishers returns a publisher for each extractor, which announces it to Clowder.
func newPublishers(set Settings, all platform.Extractors, instance string, log *zap.Logger, m *queue.Metrics) (endpoints, error) {
	out := make(endpoints, len(all))
	for i, e := range all {
		var err error
		out[i].publisher, err = queue.NewPublisher(brokerConfig(set, e), queue.Announcement{
			Exchange: heartbeats, Every: set.Heartbeat,
			Body: func() []byte { return e.Info.Heartbeat(e.Queue, set.ClowderEmail, instance) },
		}, log, m)
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// addConsumers gives each extractor the consumer that brings its jobs to pipe.
func (es endpoints) addConsumers(set Settings, all platform.Extractors, pipe *pipeline.Pipeline, log *zap.Logger, m *queue.Metrics) error {
	for i, e := range all {
		intake := pipeline.NewIntake(pipe, e, es[i].publisher, set.ClowderVersion)
		var err error
		if es[i].consumer, err = queue.NewConsumer(brokerConfig(set, e), intake, intake.Handle, log, m); err != nil {
			return err
		}
	}
	return nil
}

func brokerConfig(set Settings, e platform.Extractor) queue.Config {
	return queue.Config{URI: set.RabbitMQURI, Queue: e.Queue, ConnectionName: "clowder-ray " + e.Queue, CAFile: set.RabbitMQCA}
}

// waitingOn counts the messages in a queue of the broker.
func waitingOn(set Settings) func(context.Context, string) (int, error) {
	return func(ctx context.Context, name string) (int, error) {
		return queue.Depth(ctx, brokerConfig(set, platform.Extractor{Queue: name}))
	}
}

// ready says whether all sessions with the broker stand.
func (es endpoints) ready() bool {
	for _, e := range es {
		if !e.consumer.Ready() || !e.publisher.Ready() {
			return false
		}
	}
	return true
}

// consume takes jobs for all extractors until ctx ends. The first consumer that fails for good ends the others.
func (es endpoints) consume(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, e := range es {
		group.Go(func() error { return e.consumer.Run(ctx) })
	}
	return group.Wait()
}

// publish announces each extractor and sends statuses until ctx ends. Clowder hears of an extractor only once its queue is
// there, for what it sends before would be lost.
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
