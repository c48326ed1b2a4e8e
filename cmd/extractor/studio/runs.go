package studio

import (
	"context"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/studio/edit"
	"github.com/ncsa/clowder-ray/internal/studio/runs"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// runs are the parts of the section about runs.
func (p *Parts) runs(rights web.Rights, set *Settings) runs.Parts {
	return runs.Parts{
		Records: p.Store, Volume: p.Volume, Rights: rights, Clowder: asVisitor{}, Commands: p.Jobs, Forms: forms(p.Extractors), Ours: p.ours, Version: p.Version,
		RunOf: p.Jobs.RunOf, Champion: p.champion, Settings: new(edit.Settings), LastStatus: p.Jobs.LastStatus, TensorBoard: set.TensorBoard,
	}
}

// ours reports whether a job belongs to the Clowder of the setting CLOWDER_URL.
func (p *Parts) ours(rec job.Record) bool {
	address, err := p.Places.Address(rec)
	return err == nil && address == p.Clowder.As("").Address()
}

// champion is the number of the champion of a model and the run that made it, 0 where there is none or it cannot be read.
func (p *Parts) champion(dataset, name string) (version int, run string) {
	v, err := registry.New(p.Volume.Registry()).Champion(registry.Dataset{Clowder: p.Clowder.As("").Address(), ID: dataset}, name)
	if err != nil || v == nil {
		return 0, ""
	}
	return v.Version, v.Run
}

// forms are the extractors as the studio offers them.
func forms(all platform.Extractors) runs.Forms {
	out := make(runs.Forms, len(all))
	for i, e := range all {
		out[i] = runs.Form{Name: e.Name(), Kind: string(e.Kind), Noun: e.Kind.Noun(), Keeps: e.Kind.Keeps(), Info: e.Info}
	}
	return out
}

// asVisitor asks Clowder with the credential of the visitor.
type asVisitor struct{}

func (asVisitor) Dataset(ctx context.Context, v *web.Visitor, id string) (name, creator string, err error) {
	d, err := v.Clowder.Dataset(ctx, id)
	return d.Name, d.Creator.Email, err
}

func (asVisitor) Files(ctx context.Context, v *web.Visitor, dataset string) ([]runs.DatasetFile, error) {
	files, err := v.Clowder.Files(ctx, dataset)
	out := make([]runs.DatasetFile, len(files))
	for i, f := range files {
		out[i] = runs.DatasetFile{ID: f.ID, Name: f.Path}
	}
	return out, err
}

func (asVisitor) Submit(ctx context.Context, v *web.Visitor, dataset, extractor string, parameters map[string]any) (string, error) {
	return v.Clowder.Submit(ctx, dataset, extractor, parameters)
}
