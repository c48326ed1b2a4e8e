// Package objects moves files between the object stores that users name in the form and the folders of their runs: code and data before a
// run, checkpoints while it goes on, and results after it.
package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"sync"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/s3"
)

// The fields of the form with an address.
const (
	dataField   = "data_source"
	codeField   = "code_source"
	targetField = "output_target"
)

// place is the folder among the inputs that takes the files. No file of a dataset has a name that begins with a dot.
const place = ".s3"

// Store is what this package needs of s3.Store.
type Store interface {
	Stage(ctx context.Context, r s3.Request, say func(string)) ([]job.Input, error)
	Check(address string, who s3.Requester) error
	Upload(ctx context.Context, address string, who s3.Requester, set s3.Set) error
	Sets(ctx context.Context, address string, who s3.Requester, run, folder string) ([]string, error)
	Remove(ctx context.Context, address string, who s3.Requester, run, name string) error
}

// User returns the e-mail address of the user of a job.
type User func(ctx context.Context, rec job.Record) (string, error)

// Mover moves the files. It is safe for concurrent use.
type Mover struct {
	store  Store
	volume volume.Volume
	user   User
	log    *zap.Logger

	wake chan struct{}
	mu   sync.Mutex
	runs map[string]*copies
}

// New returns a mover. A nil store means that no object store is offered.
func New(store Store, v volume.Volume, user User, log *zap.Logger) *Mover {
	return &Mover{store: store, volume: v, user: user, log: log.Named("objects"), wake: make(chan struct{}, 1), runs: map[string]*copies{}}
}

// Target is the address that takes the results of a job, empty for none.
func Target(rec job.Record) string { return field(rec, targetField) }

func field(rec job.Record, name string) string {
	text, _ := rec.Settings.Values[name].(string)
	return strings.TrimSpace(text)
}

// Stage puts the objects that a job names into its inputs, checks the address for its results, and returns the new inputs. It sends no
// request for a job that names nothing. Errors about addresses are permanent and for the user.
func (m *Mover) Stage(ctx context.Context, rec job.Record, dataset []job.Input, say func(string)) ([]job.Input, error) {
	data, code, target := field(rec, dataField), field(rec, codeField), Target(rec)
	if data == "" && code == "" && target == "" {
		return nil, nil
	}
	who, err := m.who(ctx, rec)
	if err != nil {
		return nil, err
	}
	if target != "" {
		if err := m.store.Check(target, who); err != nil {
			return nil, err
		}
	}
	names := make(map[string]string, len(dataset))
	for _, in := range dataset {
		names[in.Name] = "the dataset"
	}
	var all []job.Input
	for _, source := range []struct{ address, name, place string }{{code, "", "code"}, {data, "data", "data"}} {
		if source.address == "" {
			continue
		}
		request := s3.Request{Address: source.address, Who: who, Dir: m.volume.Inputs(rec.Run), Place: path.Join(place, source.place), Name: source.name}
		found, err := m.store.Stage(ctx, request, say)
		if err != nil {
			return nil, err
		}
		for _, in := range found {
			if other, taken := names[in.Name]; taken {
				return nil, job.Permanent(fmt.Errorf("both %s and %s have a file %s: rename one", other, source.address, in.Name))
			}
			names[in.Name] = source.address
		}
		all = append(all, found...)
	}
	return all, nil
}

// who may be asked for only if there is a store.
func (m *Mover) who(ctx context.Context, rec job.Record) (s3.Requester, error) {
	if m.store == nil {
		return s3.Requester{}, job.Permanent(errors.New("no object store can be used here: leave Data source, Code source and Output target empty, " +
			"or ask the administrator of the extractor to set S3_SOURCES"))
	}
	user, err := m.user(ctx, rec)
	return s3.Requester{User: user, Dataset: rec.Request.DatasetID}, err
}

// Deliver copies the results of a job to its target and returns a sentence for its last status, empty without a target. What the store
// refuses for good is in the sentence and no error: the results are in Clowder.
func (m *Mover) Deliver(ctx context.Context, rec job.Record, result *results.Result) (string, error) {
	target := Target(rec)
	if target == "" {
		return "", nil
	}
	err := m.deliver(ctx, rec, target, result)
	switch kind, _ := job.Classify(err); {
	case err == nil:
		return ". A copy is in " + strings.TrimSuffix(target, "/") + "/" + rec.Run, nil
	case kind == job.KindPermanent:
		return fmt.Sprintf(". They could not be copied to %s: %s", target, strings.TrimSuffix(err.Error(), ".")), nil
	default:
		return "", err
	}
}

func (m *Mover) deliver(ctx context.Context, rec job.Record, target string, result *results.Result) error {
	who, err := m.who(ctx, rec)
	if err != nil {
		return err
	}
	set := s3.Set{Run: rec.Run, Name: "outputs"}
	for _, o := range result.Outputs {
		f := s3.File{Name: strings.TrimPrefix(o.Path, "out/"), Size: o.Size, SHA256: o.SHA256}
		f.Open = opener(m.volume.Run(rec.Run), o.Path, f)
		set.Files = append(set.Files, f)
	}
	return m.store.Upload(ctx, target, who, set)
}

// opener opens a file of a run folder, which the run can change at any moment.
func opener(folder disk.Folder, name string, f s3.File) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) {
		root, err := folder.Open()
		if err != nil {
			return nil, err
		}
		defer func() { _ = root.Close() }()
		return disk.OpenVerified(root, name, f.Size, f.SHA256)
	}
}
