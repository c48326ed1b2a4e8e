package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
)

// openStore opens the job store with the state keys of the settings.
func (s *Settings) openStore(ctx context.Context, options ...job.Option) (*job.SQLite, error) {
	keys, err := s.keyring()
	if err != nil {
		return nil, err
	}
	return job.OpenSQLite(ctx, s.storePath(), append(options, job.WithKeys(keys))...)
}

// tellLeftOut says on a terminal which jobs a list leaves out, because an older version wrote more of them than can be read.
func (p *program) tellLeftOut(run string) {
	_, _ = fmt.Fprintf(p.stderr, "%s is left out, because its record is too large: start the service, which makes it smaller\n", run)
}

// keyring reads the state keys; without any it is nil and seals nothing.
func (s *Settings) keyring() (*job.Keyring, error) {
	name, text := "STATE_KEY", s.StateKey
	if s.StateKeyFile != "" {
		doc, err := os.ReadFile(s.StateKeyFile)
		if err != nil {
			return nil, job.Permanent(fmt.Errorf("STATE_KEY_FILE: %w", err))
		}
		name, text = "STATE_KEY_FILE", job.Secret(doc)
	}
	keys, err := job.ParseKeyring(text)
	if err != nil {
		return nil, job.Permanent(fmt.Errorf("%s: %w", name, err))
	}
	if keys == nil && s.StateKeyFile != "" {
		return nil, job.Permanent(fmt.Errorf("STATE_KEY_FILE: %s holds no key: make one with openssl rand -base64 32", s.StateKeyFile))
	}
	return keys, nil
}

// openForService opens the job store and brings its records into the form in which the service works on them: keys sealed with
// the newest state key, and nothing that is too large to be read.
func (s *Settings) openForService(ctx context.Context, log *zap.Logger) (*job.SQLite, error) {
	store, err := s.openStore(ctx, job.WithLeftOut(func(run string) { log.Warn("a record is too large to be read", zap.String("run", run)) }))
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
		log.Warn("made a record smaller that was too large to be read; a job that was not over ends as failed", zap.String("run", run))
	}
	return store, nil
}
