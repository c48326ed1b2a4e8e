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

// warnLeftOut warns about a job that a list leaves out, because its record of an older version is too large.
func (p *program) warnLeftOut(run string) {
	_, _ = fmt.Fprintf(p.stderr, "warning: %s is not listed because its record is too large: start the service, which shrinks it\n", run)
}

// keyring reads the state keys. Without a key it returns nil, and nothing is encrypted.
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
		return nil, job.Permanent(fmt.Errorf("STATE_KEY_FILE: %s contains no key: create one with openssl rand -base64 32", s.StateKeyFile))
	}
	return keys, nil
}

// openForService opens the job store and updates its records: it encrypts keys with the newest state key and shrinks records
// that are too large.
func (s *Settings) openForService(ctx context.Context, log *zap.Logger) (*job.SQLite, error) {
	store, err := s.openStore(ctx, job.WithLeftOut(func(run string) { log.Warn("a record is too large and is left out", zap.String("run", run)) }))
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
