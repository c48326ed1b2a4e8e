package clowder

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/localname"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform/ignore"
)

const (
	// maxFolder is the length in bytes of the folder of a dataset.
	maxFolder = 100
	// idEnd is how much of an id tells datasets of one name apart.
	idEnd = 8
	// mostNamed is up to how many datasets that are named by their ids have their names as folders.
	mostNamed = 200
)

// choose lists the datasets that the settings name, without the one that the job was started from.
func (m *many) choose(ctx context.Context) ([]oneSet, error) {
	parts, err := clowder.ParseSelections(m.rec.Settings.Datasets)
	if err != nil {
		return nil, err
	}
	m.say.Passing("Listing the datasets that data.datasets names")
	limits := m.c.client.Config()
	var refs []clowder.Ref
	seen, named := map[string]bool{m.rec.Request.DatasetID: true}, map[string]bool{}
	single, err := m.named(ctx, parts)
	if err != nil {
		return nil, err
	}
	for _, part := range parts {
		of := single[part.Value]
		if part.Holder == clowder.OneDataset {
			named[part.Value] = true
		} else {
			of, err = m.s.Selected(ctx, part)
		}
		for _, ref := range of {
			if err == nil {
				refs, err = limits.AddRef(refs, seen, ref)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return m.foldersOf(refs, named), nil
}

// named reads the names of the datasets that the user named by their ids, by id. Of very many the ids have to do: each name is a call.
func (m *many) named(ctx context.Context, parts []clowder.Selection) (map[string][]clowder.Ref, error) {
	refs := map[string][]clowder.Ref{}
	for _, part := range parts {
		if part.Holder == clowder.OneDataset {
			refs[part.Value] = []clowder.Ref{{ID: part.Value}}
		}
	}
	if len(refs) > mostNamed {
		return refs, nil
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(m.c.client.Config().Streams)
	for id, ref := range refs {
		group.Go(func() error {
			d, err := m.s.Dataset(groupCtx, id)
			if isHidden(err) {
				return hiddenSet(id)
			}
			ref[0].Name = d.Name
			return err
		})
	}
	return refs, group.Wait()
}

// isHidden reports whether Clowder answered that the user may not see something, or that it is not there. It does not always tell which.
func isHidden(err error) bool {
	status := clowder.StatusOf(err)
	return status == http.StatusForbidden || status == http.StatusNotFound || status == http.StatusGone
}

func hiddenSet(id string) error {
	return job.Permanent(fmt.Errorf("data.datasets names the dataset %s, which you may not read, or which does not exist: correct its id, or ask its owner for the right to view it", id))
}

// foldersOf gives each dataset a folder of its own: its name, with the end of its id where the name is not its own.
func (m *many) foldersOf(refs []clowder.Ref, named map[string]bool) []oneSet {
	taken, names := map[string]bool{strings.ToLower(ownName(m.rec)): true}, map[string]int{}
	for _, in := range m.inputs {
		for _, path := range []string{in.Name, in.Path} {
			first, _, _ := strings.Cut(strings.ToLower(path), "/")
			taken[first] = true
		}
	}
	nameOf := func(ref clowder.Ref) string {
		if ref.Name == "" {
			return ref.ID
		}
		return localname.Of(ref.Name, maxFolder)
	}
	for _, ref := range refs {
		names[strings.ToLower(nameOf(ref))]++
	}
	sets := make([]oneSet, len(refs))
	for i, ref := range refs {
		name := nameOf(ref)
		folder, alone := name, names[strings.ToLower(name)] == 1
		for n := 0; !alone || taken[strings.ToLower(folder)]; n++ {
			folder = name + "-" + ref.ID[max(0, len(ref.ID)-idEnd-n):]
			alone = names[strings.ToLower(folder)] == 0
		}
		taken[strings.ToLower(folder)] = true
		sets[i] = oneSet{Ref: ref, Folder: folder, Named: named[ref.ID]}
	}
	return sets
}

// list lists the files of some datasets, several in parallel.
func (m *many) list(ctx context.Context, sets []oneSet) ([]listed, error) {
	out := make([]listed, len(sets))
	if m.late >= maxPatience {
		ctx = clowder.WithoutWait(ctx)
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(m.c.client.Config().Streams)
	for i, set := range sets {
		group.Go(func() (err error) {
			out[i], err = m.listOne(groupCtx, set)
			return err
		})
	}
	return out, group.Wait()
}

// listOne lists the data of a dataset: no settings of what it leaves out, and no results of earlier runs.
func (m *many) listOne(ctx context.Context, set oneSet) (listed, error) {
	l, err := m.s.List(ctx, set.ID)
	switch {
	case isHidden(err) && set.Named:
		return listed{}, hiddenSet(set.ID)
	case isHidden(err):
		return listed{Hidden: true}, nil
	case err != nil:
		return listed{}, err
	}
	results := resultsAmong(l.Files)
	ignored, err := ignoredOf(ctx, m.s, l.Files, m.dir.In(set.Folder))
	if err != nil {
		return listed{}, err
	}
	gone, err := goneOf(m.rec, l.Gone)
	if err != nil {
		return listed{}, err
	}
	one := listed{Late: len(l.Arriving) > 0, Left: slices.Concat(lateOf(l.Arriving, results, ignored), gone)}
	for i := range one.Left {
		one.Left[i].Name = set.Folder + "/" + one.Left[i].Name
	}
	for _, f := range l.Files {
		switch {
		case results.hold(f) || f.Path == ignore.Name:
		case ignored.Out(f.Path):
			one.Ignored++
		default:
			f.Path = set.Folder + "/" + f.Path
			one.Files = append(one.Files, asListed(f))
		}
	}
	return one, nil
}
