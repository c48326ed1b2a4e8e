package sweep

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

// The files of a sweep.
const (
	stateFile = "sweep.json"
	csvFile   = "sweep.csv"
	pageFile  = "sweep.html"

	schemaVersion = 1
	maxState      = 16 << 20
)

// point is one training of a sweep.
type point struct {
	Workers int `json:"workers"`
	Epochs  int `json:"epochs"`
}

// folder is the folder for the results of the training below out.
func (p point) folder(out string) string {
	return filepath.Join(out, fmt.Sprintf("workers-%d-epochs-%d", p.Workers, p.Epochs))
}

// table is sweep.json: the finished trainings of a sweep, and what all of them have in common.
type table struct {
	Schema  int    `json:"schema"`
	Dataset string `json:"dataset"`
	// SHA256 is one digest over the names and the contents of the files.
	SHA256     string            `json:"sha256"`
	Parameters map[string]string `json:"parameters"`
	// Rows are in the order of epochs and then workers.
	Rows []row `json:"rows"`
}

func newTable(r request, inputs []job.Input) *table {
	sum := sha256.New()
	for _, in := range slices.SortedFunc(slices.Values(inputs), func(a, b job.Input) int { return cmp.Compare(a.Path, b.Path) }) {
		_, _ = fmt.Fprintf(sum, "%q %s\n", in.Path, in.SHA256)
	}
	name := r.dataset
	if abs, err := filepath.Abs(name); err == nil {
		name = abs
	}
	return &table{Schema: schemaVersion, Dataset: filepath.Base(name), SHA256: hex.EncodeToString(sum.Sum(nil)), Parameters: r.parameters}
}

// open returns the table in the folder out, or fresh if there is none yet. It refuses a table of another sweep, whose trainings cannot be
// compared with these.
func open(out string, fresh *table) (*table, error) {
	root, err := disk.Folder{Volume: out}.Make()
	if err != nil {
		return nil, fmt.Errorf("make the folder for the results: %w", err)
	}
	defer func() { _ = root.Close() }()
	doc, err := disk.ReadFile(root, stateFile, maxState)
	if errors.Is(err, fs.ErrNotExist) {
		return fresh, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", stateFile, err)
	}
	var old table
	remedy := fmt.Sprintf("name another folder with --out, or remove %s there", stateFile)
	if err := json.Unmarshal(doc, &old); err != nil || old.Schema != schemaVersion {
		return nil, job.Permanent(fmt.Errorf("%s in the folder of --out cannot be read: %s", stateFile, remedy))
	}
	if old.SHA256 != fresh.SHA256 {
		return nil, job.Permanent(fmt.Errorf("the folder of --out holds a sweep of other data (%s): %s", old.Dataset, remedy))
	}
	if differ := differences(old.Parameters, fresh.Parameters); len(differ) > 0 {
		return nil, job.Permanent(fmt.Errorf("the folder of --out holds a sweep with other options (%s): %s", strings.Join(differ, ", "), remedy))
	}
	fresh.Rows = old.Rows
	return fresh, nil
}

// differences are the names of the options that differ.
func differences(a, b map[string]string) []string {
	names := map[string]bool{}
	for _, one := range []map[string]string{a, b} {
		for name := range one {
			x, inA := a[name]
			if y, inB := b[name]; x != y || inA != inB {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// left are the trainings of a request that are not in the table, the shortest first.
func (t *table) left(r request) []point {
	var out []point
	for _, epochs := range r.epochs {
		for _, workers := range r.workers {
			p := point{workers, epochs}
			if !slices.ContainsFunc(t.Rows, func(one row) bool { return one.point == p }) {
				out = append(out, p)
			}
		}
	}
	return out
}

func (t *table) add(one row) {
	t.Rows = append(t.Rows, one)
	slices.SortFunc(t.Rows, func(a, b row) int { return cmp.Or(cmp.Compare(a.Epochs, b.Epochs), cmp.Compare(a.Workers, b.Workers)) })
}

// write writes the files of the sweep. A reader sees the old or the new ones. sweep.json is written first, because it decides what is
// repeated.
func (t *table) write(out string) error {
	root, err := disk.Folder{Volume: out}.Make()
	if err != nil {
		return fmt.Errorf("open the folder for the results: %w", err)
	}
	defer func() { _ = root.Close() }()
	doc, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return err
	}
	if err := disk.WriteFile(root, stateFile, append(doc, '\n')); err != nil {
		return fmt.Errorf("write %s: %w", stateFile, err)
	}
	if err := disk.Write(root, csvFile, t.writeCSV); err != nil {
		return fmt.Errorf("write %s: %w", csvFile, err)
	}
	if err := disk.Write(root, pageFile, t.writePage); err != nil {
		return fmt.Errorf("write %s: %w", pageFile, err)
	}
	return nil
}
