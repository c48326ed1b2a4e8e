package clowder

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

const (
	// chosenFile has the datasets of a job, listedFile a line for each dataset whose files were listed, in the same order.
	chosenFile, listedFile = "datasets.json", "datasets.jsonl"
	// maxChosen is more than the list of a hundred thousand datasets.
	maxChosen = 64 << 20
)

// chosen are the datasets of a job, as they were when they were listed: what is added to a collection later changes no run that has begun.
type chosen struct {
	// Asked is the option that they were listed for, and At the Clowder.
	Asked string   `json:"asked"`
	At    string   `json:"at"`
	Sets  []oneSet `json:"sets"`
}

// oneSet is one dataset of a job.
type oneSet struct {
	clowder.Ref
	// Folder is the name that the files of the dataset have in common; no two datasets have the same.
	Folder string `json:"folder"`
	// Named says that the user named just this dataset, and not what holds it.
	Named bool `json:"named,omitempty"`
}

// listed is what a dataset had when its files were listed.
type listed struct {
	// Hidden says that the user may not read the dataset, or that it is gone.
	Hidden bool `json:"hidden,omitempty"`
	// Late says that a file was still being uploaded when the wait for it was over.
	Late bool `json:"late,omitempty"`
	// Ignored is how many files the dataset leaves out.
	Ignored int           `json:"ignored,omitempty"`
	Files   []listedAs    `json:"files,omitempty"`
	Left    []job.NotRead `json:"left,omitempty"`
}

// listedAs is a file as it was listed: what the staging needs of it.
type listedAs struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Path       string `json:"path"`
	Size       int64  `json:"size"`
	Type       string `json:"type,omitempty"`
	Version    int    `json:"version,omitempty"`
	Stored     string `json:"stored,omitempty"`
	Registered bool   `json:"registered,omitempty"`
}

func asListed(f clowder.File) listedAs {
	return listedAs{ID: f.ID, Name: f.Name, Path: f.Path, Size: f.Size, Type: f.ContentType, Version: f.Version, Stored: f.Stored, Registered: f.Registered}
}

func (f listedAs) file() clowder.File {
	return clowder.File{ID: f.ID, Name: f.Name, Path: f.Path, Size: f.Size, ContentType: f.Type, Version: f.Version, Stored: f.Stored, Registered: f.Registered}
}

// notes keep on disk what was listed, so that a job which goes on lists nothing twice. Only the service writes to their folder. Lines are read one
// after the other, and added after the last one.
type notes struct {
	root  *os.Root
	lines *os.File
	from  *bufio.Reader // nil after the last line
	good  int64         // bytes of whole lines
}

// openNotes opens the notes in dir. It makes the list of datasets with list where there is none for the same question.
func openNotes(dir disk.Folder, asked, at string, list func() ([]oneSet, error)) (_ *notes, _ []oneSet, err error) {
	root, err := dir.Make()
	if err != nil {
		return nil, nil, fmt.Errorf("open the list of datasets: %w", err)
	}
	n := &notes{root: root}
	defer func() {
		if err != nil {
			n.close()
		}
	}()
	var all chosen
	doc, err := disk.ReadFile(root, chosenFile, maxChosen)
	if err != nil || json.Unmarshal(doc, &all) != nil || all.Asked != asked || all.At != at {
		if all.Sets, err = list(); err != nil {
			return nil, nil, err
		}
		if err := n.choose(chosen{Asked: asked, At: at, Sets: all.Sets}); err != nil {
			return nil, nil, fmt.Errorf("keep the list of datasets: %w", err)
		}
	}
	if n.lines, err = root.OpenFile(listedFile, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, nil, fmt.Errorf("open the list of files: %w", err)
	}
	n.from = bufio.NewReader(n.lines)
	return n, all.Sets, nil
}

// reopenNotes opens the notes in dir behind their first good bytes.
func reopenNotes(dir disk.Folder, good int64) (*notes, error) {
	root, err := dir.Open()
	if err != nil {
		return nil, fmt.Errorf("open the list of datasets: %w", err)
	}
	lines, err := root.OpenFile(listedFile, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("open the list of files: %w", errors.Join(err, root.Close()))
	}
	n := &notes{root: root, lines: lines, from: bufio.NewReader(lines), good: good}
	if _, err := lines.Seek(good, io.SeekStart); err != nil {
		n.close()
		return nil, fmt.Errorf("read the list of files: %w", err)
	}
	return n, nil
}

// choose writes the list of datasets. Lists of files that belong to an older one are removed first.
func (n *notes) choose(all chosen) error {
	doc, err := json.Marshal(all)
	if err != nil {
		return err
	}
	if err := n.root.Remove(listedFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return disk.WriteFile(n.root, chosenFile, doc)
}

// next returns the following lines that were added before, at most most of them. A line that a kill has cut is the end.
func (n *notes) next(most int) ([]listed, error) {
	var out []listed
	for n.from != nil && len(out) < most {
		line, err := n.from.ReadBytes('\n')
		var one listed
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("read the list of files: %w", err)
		}
		if err != nil || json.Unmarshal(line, &one) != nil {
			n.from = nil
			break
		}
		n.good += int64(len(line))
		out = append(out, one)
	}
	return out, nil
}

// add keeps what some datasets had. After a nil error it is on disk.
func (n *notes) add(batch []listed) error {
	var doc []byte
	for _, one := range batch {
		line, err := json.Marshal(one)
		if err != nil {
			return fmt.Errorf("keep the list of files: %w", err)
		}
		doc = append(append(doc, line...), '\n')
	}
	_, err := n.lines.WriteAt(doc, n.good)
	n.good += int64(len(doc))
	if err = errors.Join(err, n.lines.Truncate(n.good), n.lines.Sync()); err != nil {
		return fmt.Errorf("keep the list of files: %w", err)
	}
	return nil
}

func (n *notes) close() {
	if n.lines != nil {
		_ = n.lines.Close() // what was added is on disk
	}
	_ = n.root.Close()
}
