package clowder

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/pick"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/text"
)

// locator tells the dataset of a file. Only a Clowder whose page picks files of all datasets has it: there a bare id is enough.
type locator interface {
	FileState(ctx context.Context, id string) (clowder.FileState, error)
}

// chooser finds the files that the fields of a form name, with the rights of the user.
type chooser struct {
	session versions.Session
	own     string
	lists   map[string][]clowder.File
	names   map[string]string
	// chosen says by the id of a file which field names it; files are those of other datasets.
	chosen map[string]*job.Choice
	files  []clowder.File
}

// chosenOf finds what the form of a job names. Names that are in no file of the dataset are left to those who read the options.
func (c *Platform) chosenOf(ctx context.Context, s versions.Session, rec job.Record, listed []clowder.File) (*chooser, error) {
	found := &chooser{
		session: s, own: rec.Request.DatasetID, lists: map[string][]clowder.File{rec.Request.DatasetID: listed},
		names: map[string]string{}, chosen: map[string]*job.Choice{},
	}
	for _, f := range c.extractors.Of(rec.Request).Info.Fields() {
		value, _ := rec.Settings.Values[f.Name].(string)
		if !f.File || value == "" {
			continue
		}
		picks, err := pick.Parse(value)
		if err != nil {
			return nil, job.Permanent(fmt.Errorf("%s %w", f.Name, err))
		}
		for _, p := range picks {
			if err := found.find(ctx, f.Name, p); err != nil {
				return nil, err
			}
		}
	}
	return found, found.mayAnswer(ctx, rec)
}

// mayAnswer refuses predictions in the metadata of files of a dataset that the user may only view: the delivery would fail after the work.
func (c *chooser) mayAnswer(ctx context.Context, rec job.Record) error {
	if !rec.Settings.WritesMetadata() || len(c.files) == 0 {
		return nil
	}
	for dataset := range c.lists {
		if _, err := checkRights(ctx, c.session, dataset); err != nil {
			return err
		}
	}
	return nil
}

// find marks the files of one pick.
func (c *chooser) find(ctx context.Context, field string, p pick.Pick) error {
	dataset := p.Dataset
	if dataset == "" || dataset == c.own {
		marked, err := c.mark(field, p, c.own)
		if marked || err != nil {
			return err
		}
		if p.ID == "" && p.Dataset == "" {
			return nil // a name: finetune.yaml may say the same, and who reads both says what is missing
		}
		if dataset, err = c.locate(ctx, field, p); err != nil {
			return err
		}
	}
	if err := c.list(ctx, field, dataset); err != nil {
		return err
	}
	marked, err := c.mark(field, p, dataset)
	if err == nil && !marked {
		err = job.Permanent(fmt.Errorf("%s names %s, which is not in its dataset any more or has no files: choose another one", field, p.Shown()))
	}
	return err
}

// locate asks Clowder for the dataset of a file that is in no dataset known so far.
func (c *chooser) locate(ctx context.Context, field string, p pick.Pick) (string, error) {
	missing := job.Permanent(fmt.Errorf("%s names %s, which is neither a file or folder of the dataset nor a file that you may read elsewhere: choose another one", field, p.Shown()))
	where, ok := c.session.(locator)
	if !ok || p.Kind == pick.Folder || p.Dataset != "" {
		return "", missing
	}
	state, err := where.FileState(ctx, p.ID)
	switch kind, _ := job.Classify(err); {
	case err == nil && state.DatasetID != c.own:
		return state.DatasetID, nil
	case err != nil && kind != job.KindPermanent:
		return "", err
	default:
		return "", missing
	}
}

// list reads another dataset, once.
func (c *chooser) list(ctx context.Context, field, dataset string) error {
	if c.lists[dataset] != nil {
		return nil
	}
	of, err := c.session.Dataset(ctx, dataset)
	var files []clowder.File
	if err == nil {
		files, err = c.session.Files(ctx, dataset)
	}
	switch clowder.StatusOf(err) {
	case http.StatusForbidden, http.StatusNotFound, http.StatusUnauthorized:
		return job.Permanent(fmt.Errorf("%s names a file or folder of the dataset %s, which you may not read or which was deleted: ask its owner for the right to view it, or choose another one", field, dataset))
	}
	if err != nil {
		return fmt.Errorf("read the other dataset that %s names: %w", field, err)
	}
	c.lists[dataset], c.names[dataset] = files, cmp.Or(strings.ReplaceAll(text.Excerpt(text.OneLine(of.Name), 60), "/", "_"), dataset)
	return nil
}

// mark notes the files of a pick in a dataset, and reports whether there are any.
func (c *chooser) mark(field string, p pick.Pick, dataset string) (bool, error) {
	marked := false
	folder := ""
	for _, f := range c.lists[dataset] {
		choice := choiceOf(p, f)
		if choice == nil {
			continue
		}
		if id := folderAt(f, choice); p.ID == "" && id != "" {
			if folder != "" && folder != id {
				return false, job.Permanent(fmt.Errorf("%s names the folder %s, and the dataset has two of this name: give one of them another name, or write its id (%s or %s)",
					field, p.Shown(), folder, id))
			}
			folder = id
		}
		marked, choice.Field = true, field
		if dataset != c.own {
			choice.Where = append([]string{c.names[dataset]}, choice.Where...)
		}
		known := c.chosen[f.ID] != nil
		in := job.Input{Name: f.Path, Chosen: c.chosen[f.ID]}
		if err := platform.Mark(&in, *choice); err != nil {
			return false, err
		}
		c.chosen[f.ID] = in.Chosen
		if !known && dataset != c.own {
			f.Path = c.names[dataset] + "/" + f.Path
			c.files = append(c.files, f)
		}
	}
	return marked, nil
}

// choiceOf returns how a pick names a file, nil where it does not. A base name is no path: the files that have it are looked for later.
func choiceOf(p pick.Pick, f clowder.File) *job.Choice {
	depth := 0
	switch {
	case p.ID != "" && p.ID == f.ID && p.Kind != pick.Folder, p.ID == "" && p.Kind != pick.Folder && p.Name == f.Path:
		return &job.Choice{Inner: path.Base(f.Path), Exact: job.ExactFile}
	case p.ID != "" && p.Kind != pick.File:
		depth = slices.Index(f.Folders, p.ID) + 1
	case p.ID == "" && p.Kind != pick.File && strings.HasPrefix(f.Path, p.Name+"/"):
		depth = strings.Count(p.Name, "/") + 1
	}
	parts := strings.Split(f.Path, "/")
	if depth == 0 || depth >= len(parts) {
		return nil
	}
	return &job.Choice{Where: []string{path.Join(parts[:depth]...)}, Inner: path.Join(parts[depth:]...), Exact: depth}
}

// folderAt is the id of the folder that was chosen, where Clowder tells the folders of the file.
func folderAt(f clowder.File, c *job.Choice) string {
	if c.Exact > len(f.Folders) {
		return ""
	}
	return f.Folders[c.Exact-1]
}

// add returns inputs with the chosen files that are not among them: what a person has chosen is read although the dataset leaves it out.
func (c *chooser) add(inputs []clowder.File) []clowder.File {
	missing := map[string]bool{}
	for id := range c.chosen {
		missing[id] = true
	}
	for _, f := range inputs {
		delete(missing, f.ID)
	}
	out := slices.Clone(inputs)
	for _, f := range slices.Concat(c.lists[c.own], c.files) {
		if missing[f.ID] {
			out = append(out, f)
		}
	}
	return out
}

// tell writes into the staged inputs which field names them, and where those of other datasets are from.
func (c *chooser) tell(inputs []job.Input) {
	others := map[string]string{}
	for dataset, files := range c.lists {
		for _, f := range files {
			if dataset != c.own {
				others[f.ID] = dataset
			}
		}
	}
	for i, in := range inputs {
		inputs[i].Chosen = c.chosen[in.ID]
		if dataset := others[in.ID]; dataset != "" {
			inputs[i].Source = c.session.Address() + "/datasets/" + dataset
		}
	}
}
