package main

import (
	"errors"
	"fmt"
	"os"

	clowderray "github.com/ncsa/clowder-ray"
	"github.com/ncsa/clowder-ray/cmd/extractor/backend"
	"github.com/ncsa/clowder-ray/cmd/extractor/settings"
	"github.com/ncsa/clowder-ray/internal/clowder/form"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
	"github.com/ncsa/clowder-ray/internal/platform"
)

// extractors reads the forms of all extractors of this service and adds the installed models and the profiles to them.
func extractors(set settings.Settings, volume volume.Volume) (platform.Extractors, error) {
	train, err := trainingForm(set)
	if err != nil {
		return nil, err
	}
	models, err := volume.Models()
	if err != nil {
		return nil, err
	}
	profiles, err := backend.Profiles(set)
	if err != nil {
		return nil, err
	}
	var all platform.Extractors
	for _, source := range []struct {
		kind  job.Work
		doc   []byte
		queue string
	}{
		{job.Train, train, set.RabbitMQQueue},
		{job.Train, clowderray.AdvancedInfo, set.AdvancedQueue},
		{job.Predict, clowderray.PredictInfo, set.PredictQueue},
		{job.Script, clowderray.ScriptInfo, set.ScriptQueue},
		{job.Runs, clowderray.RunsInfo, set.RunsQueue},
	} {
		info, err := readForm(source.kind, source.doc, models, profiles)
		if err != nil {
			return nil, job.Permanent(err)
		}
		if versions.Of(set.ClowderVersion).OffersForFiles && source.kind != job.Runs {
			if info, err = info.ForFiles(); err != nil {
				return nil, job.Permanent(err)
			}
		}
		all = append(all, platform.Extractor{Kind: source.kind, Info: info, Queue: set.Queue(source.queue, info.Name)})
	}
	if set.AutomaticAfter > 0 {
		info, err := readForm(job.Predict, clowderray.PredictInfo, models, nil)
		if err != nil {
			return nil, job.Permanent(err)
		}
		info = info.ForNewFiles()
		all = append(all, platform.Extractor{Kind: job.Predict, Info: info, Queue: set.Queue(set.AutomaticQueue, info.Name), Automatic: true})
	}
	return all, checkDistinct(all)
}

// trainingForm returns the form in EXTRACTOR_INFO, or else the built-in one.
func trainingForm(set settings.Settings) ([]byte, error) {
	if set.ExtractorInfo == "" {
		return clowderray.ExtractorInfo, nil
	}
	doc, err := os.ReadFile(set.ExtractorInfo)
	if err != nil {
		return nil, job.Permanent(fmt.Errorf("EXTRACTOR_INFO: %w", err))
	}
	return doc, nil
}

func readForm(kind job.Work, doc []byte, models, profiles []string) (*form.Info, error) {
	info, err := form.Parse(doc)
	if err != nil {
		return info, err
	}
	if info, err = info.WithModels(models); err != nil || kind == job.Runs {
		return info, err
	}
	return info.WithProfiles(profiles)
}

// checkDistinct reports extractors with the same name or queue.
func checkDistinct(all platform.Extractors) error {
	names, queues := map[string]bool{}, map[string]bool{}
	for _, e := range all {
		names[e.Info.Name], queues[e.Queue] = true, true
	}
	if len(names) < len(all) || len(queues) < len(all) {
		return job.Permanent(errors.New(
			"RABBITMQ_QUEUE, RABBITMQ_ADVANCED_QUEUE, RABBITMQ_PREDICT_QUEUE, RABBITMQ_SCRIPT_QUEUE, RABBITMQ_RUNS_QUEUE and RABBITMQ_AUTOMATIC_QUEUE: each extractor needs a different name and queue"))
	}
	return nil
}
