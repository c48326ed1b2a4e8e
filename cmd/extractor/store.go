package main

import (
	"context"
	"fmt"
	"os"

	"github.com/ncsa/clowder-ray/internal/job"
)

// openStore opens the job store with the state keys of the settings.
func (s *Settings) openStore(ctx context.Context) (*job.SQLite, error) {
	keys, err := s.keyring()
	if err != nil {
		return nil, err
	}
	return job.OpenSQLite(ctx, s.storePath(), job.WithKeys(keys))
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
