package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/ncsa/clowder-ray/internal/clowder/form"

	clowderray "github.com/ncsa/clowder-ray"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
	"github.com/ncsa/clowder-ray/internal/platform"
)

// extractors reads the forms of all extractors of this service and adds the installed models and the profiles to them.
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
			"RABBITMQ_QUEUE, RABBITMQ_ADVANCED_QUEUE, RABBITMQ_PREDICT_QUEUE and RABBITMQ_RUNS_QUEUE: each extractor needs a different name and queue"))
	}
	return all, nil
}
