package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/cmd/extractor/settings"
	"github.com/ncsa/clowder-ray/internal/job"
)

// openStore opens the job store with the state keys of the settings.
func openStore(ctx context.Context, set settings.Settings, options ...job.Option) (*job.SQLite, error) {
	keys, err := keyring(set)
	if err != nil {
		return nil, err
	}
	return job.OpenSQLite(ctx, set.StorePath(), append(options, job.WithKeys(keys))...)
}

// leftOut are the jobs that a list leaves out, and why.
type leftOut struct {
	mu   sync.Mutex
	jobs map[string]error
}

// add notes a job, and reports whether it is new. The zero leftOut is empty.
func (l *leftOut) add(run string, why error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, known := l.jobs[run]
	if l.jobs == nil {
		l.jobs = map[string]error{}
	}
	l.jobs[run] = why
	return !known
}

func (l *leftOut) count() float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return float64(len(l.jobs))
}

// unreadable says in a word what is wrong with a record that cannot be read, and in a sentence what to do.
func unreadable(why error) (word, remedy string) {
	if errors.Is(why, job.ErrTooLarge) {
		return "too large", "start the service, which makes the record smaller"
	}
	return "damaged", "restore the job store from a backup, or submit the dataset again"
}

// keyring reads the state keys. Without a key it returns nil, and nothing is encrypted.
func keyring(set settings.Settings) (*job.Keyring, error) {
	name, text := "STATE_KEY", set.StateKey
	if set.StateKeyFile != "" {
		doc, err := os.ReadFile(set.StateKeyFile)
		if err != nil {
			return nil, job.Permanent(fmt.Errorf("STATE_KEY_FILE: %w", err))
		}
		name, text = "STATE_KEY_FILE", job.Secret(doc)
	}
	keys, err := job.ParseKeyring(text)
	if err != nil {
		return nil, job.Permanent(fmt.Errorf("%s: %w", name, err))
	}
	if keys == nil && set.StateKeyFile != "" {
		return nil, job.Permanent(fmt.Errorf("STATE_KEY_FILE: %s contains no key: create one with openssl rand -base64 32", set.StateKeyFile))
	}
	return keys, nil
}

// openForService opens the job store and updates its records: it encrypts keys with the newest state key and shrinks records
// that are too large.
// A record that cannot be read is logged once and counted; its job stands still, and its files and its training on Ray stay.
func openForService(ctx context.Context, set settings.Settings, reg prometheus.Registerer, log *zap.Logger) (*job.SQLite, error) {
	var left leftOut
	promauto.With(reg).NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: "clowder_ray", Subsystem: "store", Name: "unreadable_records", Help: "Jobs that are left out because their records cannot be read.",
	}, left.count)
	store, err := openStore(ctx, set, job.WithLeftOut(func(run string, why error) {
		if left.add(run, why) {
			_, remedy := unreadable(why)
			log.Error("a job is left out: "+remedy, zap.String("run", run), zap.Error(why))
		}
	}))
	if err != nil {
		return nil, err
	}
	shrunk, err := store.Shrink(ctx)
	if err == nil {
		err = store.Reseal(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	for _, run := range shrunk {
		log.Warn("shrank a record that was too large; the job fails if it was active", zap.String("run", run))
	}
	return store, nil
}
