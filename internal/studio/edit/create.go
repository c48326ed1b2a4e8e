package edit

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/options"
	"github.com/ncsa/clowder-ray/internal/studio/web"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Listed is a file of a dataset that the editor opens.
type Listed struct {
	ID      string `json:"id"`
	Path    string `json:"path"`
	Version int    `json:"version"`
	Bytes   int64  `json:"bytes"`
	By      string `json:"by" doc:"E-mail address of who saved the newest version"`
}

// list returns the text files of a dataset, settings first, then by path. others is how many files the editor does not open.
func (s *Section) list(ctx context.Context, dataset string) (files []Listed, others int, role clowder.Role, err error) {
	if role, err = s.allowed(ctx, dataset, clowder.RoleViewer); err != nil {
		return nil, 0, role, err
	}
	all, err := filesOf(ctx).FilesNow(ctx, dataset)
	if err != nil {
		return nil, 0, role, err
	}
	files = []Listed{}
	for _, f := range all {
		if f.InFlight || f.Size > maxText || !Editable(f.Name) {
			others++
			continue
		}
		files = append(files, Listed{ID: f.ID, Path: f.Path, Version: f.Version, Bytes: f.Size, By: f.Creator})
	}
	order := map[bool]int{true: 0, false: 1}
	slices.SortFunc(files, func(a, b Listed) int {
		return cmp.Or(order[options.IsSettings(a.Path)]-order[options.IsSettings(b.Path)], strings.Compare(a.Path, b.Path), strings.Compare(a.ID, b.ID))
	})
	return files, others, role, nil
}

// create adds a new file to the root of a dataset. A name that is there already is refused: Clowder would keep both.
func (s *Section) create(ctx context.Context, dataset, name, content string) (clowder.File, error) {
	if _, err := s.allowed(ctx, dataset, clowder.RoleUploader); err != nil {
		return clowder.File{}, err
	}
	name = strings.TrimSpace(name)
	refuse := func(status int, detail, do string) (clowder.File, error) {
		return clowder.File{}, &web.Problem{Type: "name", Title: "This name cannot be used", Status: status, Detail: detail, Do: do}
	}
	if clowder.CheckName("file", name) != nil || len(name) > 200 {
		return refuse(http.StatusUnprocessableEntity, "A file cannot be called "+quoted(name)+".", "Use a name without slashes, for example finetune.yaml.")
	}
	if !Editable(name) {
		return refuse(http.StatusUnprocessableEntity, "The editor does not open "+quoted(name)+".", "End the name with "+text.Choice(suffixes)+".")
	}
	if err := checkText(content); err != nil {
		return clowder.File{}, err
	}
	free, err := s.locks.take(ctx, "new in "+dataset)
	if err != nil {
		return clowder.File{}, err
	}
	defer free()
	existing, err := filesOf(ctx).FilesNow(ctx, dataset)
	if err != nil {
		return clowder.File{}, err
	}
	if slices.ContainsFunc(existing, func(f clowder.File) bool { return strings.EqualFold(f.Path, name) }) {
		return refuse(http.StatusConflict, "The dataset has a file "+quoted(name)+" already.", "Open it, or use another name.")
	}
	return web.VisitorOf(ctx).Clowder.Upload(ctx, dataset, "", clowder.Body{
		Name: name, ContentType: contentType(name), Size: int64(len(content)),
		Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil },
	})
}

func quoted(name string) string { return fmt.Sprintf("%q", text.Excerpt(name, 60)) }

// contentType is what Clowder shows of a new file.
func contentType(name string) string {
	return map[string]string{
		".yaml": "application/x-yaml", ".yml": "application/x-yaml", ".json": "application/json", ".toml": "application/toml",
		".py": "text/x-python", ".md": "text/markdown", ".txt": "text/plain",
	}[strings.ToLower(path.Ext(name))]
}

// copyOf saves a text as a new file beside the one that it came from.
func (s *Section) copyOf(ctx context.Context, dataset, name, content string) (clowder.File, error) {
	suffix := path.Ext(name)
	for n := 1; ; n++ {
		free := fmt.Sprintf("%s-copy%s", strings.TrimSuffix(name, suffix), suffix)
		if n > 1 {
			free = fmt.Sprintf("%s-copy-%d%s", strings.TrimSuffix(name, suffix), n, suffix)
		}
		made, err := s.create(ctx, dataset, free, content)
		if n == maxCopies || err == nil || web.AsProblem(err).Status != http.StatusConflict {
			return made, err
		}
	}
}

// maxCopies is how many names of copies are tried.
const maxCopies = 20

// restore saves an older version as the newest one.
func (s *Section) restore(ctx context.Context, dataset, file, base string, number int) (Outcome, error) {
	state, _, err := s.state(ctx, dataset, file, clowder.RoleEditor)
	if err != nil {
		return Outcome{}, err
	}
	old, err := s.version(ctx, state, number)
	if err != nil {
		return Outcome{}, err
	}
	return s.save(ctx, dataset, file, base, old)
}

// settingsName is the file in which a training looks for its settings.
const settingsName = "finetune.yaml"

// firstSettings is the text of a new settings file: what the newest training of the dataset was given, or a few options to begin with.
func (s *Section) firstSettings(ctx context.Context, dataset string) (string, error) {
	var last map[string]any
	if s.trainings != nil {
		var err error
		if last, err = s.trainings.LastSettings(ctx, dataset); err != nil {
			return "", err
		}
	}
	return settingsText(last)
}

// settingsText writes options as a settings file, in their groups and in the order of the table.
func settingsText(values map[string]any) (string, error) {
	values = maps.Clone(values)
	for _, name := range []string{"config_file", "more_options", "data_file", "validation_file", "test_file", "annotation_file", "run_name"} { // they belong to one run
		delete(values, name)
	}
	var out bytes.Buffer
	out.WriteString("# Settings of the trainings of this dataset. Every option can be left out.\n")
	var groups []string
	lines := map[string][]string{}
	for _, o := range options.Of("train").All() {
		value, isSet := values[o.Group+"."+o.Name]
		if !isSet {
			value, isSet = values[o.Name]
		}
		if !isSet {
			continue
		}
		written, err := yaml.Marshal(map[string]any{o.Name: plain(value)})
		if err != nil {
			return "", fmt.Errorf("write the option %s: %w", o.Name, err)
		}
		if !slices.Contains(groups, o.Group) {
			groups = append(groups, o.Group)
		}
		lines[o.Group] = append(lines[o.Group], strings.TrimSuffix(string(written), "\n"))
	}
	if len(groups) == 0 {
		out.WriteString("# epochs: 3\n# learning_rate: 3e-4\n# training:\n#   seed: 42\n")
	}
	slices.SortStableFunc(groups, func(a, b string) int { return cmp.Compare(min(len(a), 1), min(len(b), 1)) }) // what has no group comes first
	for _, group := range groups {
		indent := ""
		if group != "" {
			out.WriteString(group + ":\n")
			indent = "  "
		}
		for _, line := range lines[group] {
			out.WriteString(indent + strings.ReplaceAll(line, "\n", "\n"+indent) + "\n")
		}
	}
	return out.String(), nil
}

// plain turns a number of JSON into one that YAML writes as a person does.
func plain(value any) any {
	switch n := value.(type) {
	case float64:
		if n == float64(int64(n)) {
			return int64(n)
		}
	case json.Number:
		return plainNumber(n)
	}
	return value
}

func plainNumber(n json.Number) any {
	if whole, err := n.Int64(); err == nil {
		return whole
	}
	number, _ := n.Float64() // a number of JSON is one
	return number
}
