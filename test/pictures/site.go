package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/test/browser"
	"github.com/ncsa/clowder-ray/test/stack"
)

// enable waits until Clowder knows the extractor and makes it visible to users, as an administrator does. Without the key of
// an administrator it does nothing.
func (s *site) enable(ctx context.Context) error {
	if s.adminKey == "" {
		return nil
	}
	for {
		var known struct{ Data []struct{ ID, Name string } }
		if err := s.call(ctx, http.MethodGet, "/api/v2/listeners?all=true&enable_admin=true&limit=100", s.adminKey, &known); err != nil {
			return err
		}
		for _, l := range known.Data {
			if l.Name == stack.Extractor {
				return s.call(ctx, http.MethodPut, "/api/v2/listeners/"+l.ID+"/enable?enable_admin=true", s.adminKey, nil)
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s in Clowder's list of extractors: %w", stack.Extractor, context.Cause(ctx))
		case <-time.After(time.Second):
		}
	}
}

// call sends one request to Clowder and decodes the answer into v, unless that is nil.
func (s *site) call(ctx context.Context, method, path, key string, v any) (err error) {
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, nil)
	if err != nil {
		return err
	}
	req.Header.Set("X-Api-Key", key)
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: Clowder answered %s", method, path, answer.Status)
	}
	if v == nil {
		return nil
	}
	return json.NewDecoder(answer.Body).Decode(v)
}

// newestJob returns the newest job of the training extractor, and its dataset.
func (s *site) newestJob(ctx context.Context) (dataset, id string, err error) {
	var jobs struct {
		Data []struct {
			ID, Created string
			Ref         struct {
				Dataset string `json:"resource_id"`
			} `json:"resource_ref"`
		}
	}
	if err := s.call(ctx, http.MethodGet, "/api/v2/jobs?listener_id="+stack.Extractor+"&limit=100", s.key, &jobs); err != nil {
		return "", "", err
	}
	if len(jobs.Data) == 0 {
		return "", "", errors.New("list the jobs: Clowder lists none of " + stack.Extractor)
	}
	newest := jobs.Data[0]
	for _, j := range jobs.Data {
		if j.Created > newest.Created {
			newest = j
		}
	}
	return newest.Ref.Dataset, newest.ID, nil
}

// photographJob opens the dataset of a job in Clowder's page, as the user, and photographs the log of the job.
func (s *site) photographJob(_ context.Context, c *camera, dataset, id, file string) error {
	page, err := browser.ServeClowder2(s.url, s.key, s.page)
	if err != nil {
		return err
	}
	defer page.Close()
	return c.job(page.URL+"/datasets/"+dataset, id, file)
}

// photographRun has a network trained on the dataset, opens the page of the run in the studio, and photographs it in the middle of the training.
func (s *site) photographRun(ctx context.Context, c *camera, studio, dataset, file string) (err error) {
	client, err := clowder.NewClient(clowder.Config{URL: s.url})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	const epochs = 12
	parameters := map[string]any{"run_name": runName, "model": "bert-tiny", "epochs": epochs, "more_options": "early_stopping_patience: 0"}
	if _, err := client.As(job.Secret(s.key)).Submit(ctx, dataset, stack.Extractor, parameters); err != nil {
		return err
	}
	return c.run(studio, s.key, dataset, epochs/2, file)
}
