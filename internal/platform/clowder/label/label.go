// Package label finds the labels of staged files in what Clowder says of them: their metadata, that of their datasets, their tags and those of their
// sections. It changes nothing in Clowder.
package label

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/options"
	"github.com/ncsa/clowder-ray/internal/text"
)

const (
	// labelStreams is how many files are asked for their metadata in parallel.
	labelStreams = 8
	// maxLabel is the length in bytes of the longest label, and maxKeys how many keys an error names.
	maxLabel = 200
	maxKeys  = 8
)

// Give gives each staged file the label that its metadata, its dataset or its tag holds, or several, as the settings of the job ask. written are the
// extractors of this service: what they write on a dataset describes runs. say takes how many files lack a label.
func Give(ctx context.Context, s versions.Session, rec job.Record, written []string, inputs []job.Input, say func(string)) error {
	from, err := labelsFrom(s, rec, written)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	count := labelCount{missing: make([]int, len(from.columns))}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(labelStreams)
	for i := range inputs {
		if isSettings(rec, inputs[i]) {
			continue
		}
		count.asked++
		group.Go(func() error {
			read, err := from.of(groupCtx, inputs[i])
			if clowder.StatusOf(err) == http.StatusNotFound {
				err = nil // it was deleted after it was staged
			}
			mu.Lock()
			defer mu.Unlock()
			if errors.Is(err, clowder.ErrManyNotes) {
				read, err = nil, nil
				count.many = append(count.many, inputs[i].Name)
			}
			mark(&inputs[i], from.columns, read)
			count.add(read, inputs[i])
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	switch {
	case count.labelled == 0 && len(count.many) > 0:
		return job.Permanent(errors.New(count.manyText()))
	case count.labelled == 0 && count.asked > 0:
		return from.places[0].none()
	}
	count.tell(from.names(), say)
	return nil
}

// mark writes what was read of a file into it: its label, or all columns where there are several and it has a label in one of them.
func mark(in *job.Input, columns []string, read []labelRead) {
	in.Label, in.Columns = "", nil
	if !slices.ContainsFunc(read, labelRead.there) {
		return
	}
	if len(columns) == 1 {
		in.Label = read[0].label
		return
	}
	for i, one := range read {
		in.Columns = append(in.Columns, job.Column{Name: columns[i], Value: one.label})
	}
}

// labelCount counts the files of a job by where their labels are from.
type labelCount struct {
	asked, labelled, earlier, ofDataset int
	// missing are the files without the label of each name, of those that have another one.
	missing []int
	// many are the files with more metadata than is read.
	many []string
}

func (n *labelCount) add(read []labelRead, in job.Input) {
	if !slices.ContainsFunc(read, labelRead.there) {
		return
	}
	n.labelled++
	ofDataset, earlier := false, false
	for i, one := range read {
		if !one.there() {
			n.missing[i]++
			continue
		}
		ofDataset = ofDataset || one.ofDataset
		earlier = earlier || one.version > 0 && one.version < in.Version // files of v1 have one version
	}
	if ofDataset {
		n.ofDataset++
	}
	if earlier {
		n.earlier++
	}
}

// manyText says which files have more metadata than is read.
func (n *labelCount) manyText() string {
	slices.Sort(n.many)
	return fmt.Sprintf("no label of %s was read, the file or its dataset: %v", text.ListSome(n.many, 3, 200), clowder.ErrManyNotes)
}

// tell says how many files lack a label. names are what the labels are called.
func (n *labelCount) tell(names []string, say func(string)) {
	files, all := text.Count(n.asked, "file"), text.ListSome(names, 6, 60)
	if without := n.asked - n.labelled; without > 0 {
		lack := "have no " + all
		if len(names) > 1 {
			lack = "have none of " + all
		}
		say(fmt.Sprintf("%d of %s %s and are left out", without, files, lack))
	}
	for i, missing := range n.missing {
		if missing > 0 {
			say(fmt.Sprintf("%d of %s have no %s, but other labels", missing, files, names[i]))
		}
	}
	if len(n.many) > 0 {
		say("Note: " + n.manyText())
	}
	if n.ofDataset > 0 {
		say(fmt.Sprintf("%d of %s have the %s of their dataset", n.ofDataset, files, all))
	}
	if n.earlier > 0 {
		say(fmt.Sprintf("Note: %s got a new version after the label was written; the label of the earlier version is used", text.Count(n.earlier, "file")))
	}
}

// isSettings reports whether a staged file holds settings, and so has no label.
func isSettings(rec job.Record, in job.Input) bool {
	return options.IsSettings(in.Name) || rec.SettingsFile != nil && rec.SettingsFile.Name == in.Name
}
