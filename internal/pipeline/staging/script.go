package staging

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/script"
)

// allowScript decides what the script of a job may do, before its files are downloaded. It returns nil for other kinds of jobs. The settings
// may change: a script that may not use a GPU is told so.
func (s *Stager) allowScript(ctx context.Context, rec job.Record, settings *job.Settings) (*script.Spec, error) {
	if rec.Kind != job.Script {
		return nil, nil //nolint:nilnil // only scripts have one
	}
	r := script.Request{Values: settings.Values}
	var err error
	if r.Pods, err = s.Isolates(*settings); err != nil {
		return nil, err
	}
	if s.Scripts.NeedsUser() {
		if r.User, err = s.Platform.User(ctx, rec); err != nil {
			return nil, err
		}
	}
	spec, values, err := s.Scripts.Allow(r)
	if err != nil {
		return nil, err
	}
	*settings = job.NewSettings(values)
	return &spec, nil
}

// prepareScript installs the packages of a script and returns what its record keeps; nil for other kinds of jobs. The packages stay until
// the job is over, whatever happens to its attempts. The settings name the script by its path from then on.
func (s *Stager) prepareScript(ctx context.Context, rec job.Record, settings *job.Settings, spec *script.Spec, inputs []job.Input) (json.RawMessage, error) {
	if spec == nil {
		return nil, nil
	}
	*settings = job.NewSettings(script.NameEntry(settings.Values, inputs))
	err := s.Scripts.Install(ctx, spec, settings.Values, inputs, s.Volume.Inputs(rec.Run), func(text string) { s.Statuses.Remark(rec, text) })
	if err != nil {
		return nil, err
	}
	doc, err := json.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("encode what the script may do: %w", err)
	}
	return doc, nil
}
