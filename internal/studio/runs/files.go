package runs

import (
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Input is a file that a run was made from.
type Input struct {
	ID     string `json:"id,omitempty" doc:"Id of the file in Clowder"`
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	// Version is the number of the file's version in Clowder, 0 where it is not known.
	Version int `json:"version,omitempty"`
}

// SizeText is the size in words.
func (i Input) SizeText() string { return text.Bytes(i.Size) }

// File is a file that a run made and that is still on the volume.
type File struct {
	// Path names it in the API.
	Path string `json:"path"`
	Size int64  `json:"size"`
}

// SizeText is the size in words, and Name the file without its folder.
func (f File) SizeText() string { return text.Bytes(f.Size) }

// Name is the name of the file without the folder of all outputs.
func (f File) Name() string { return strings.TrimPrefix(f.Path, results.OutDir) }

// maxShownInputs is how many inputs a page lists.
const maxShownInputs = 1000

// inputs are the staged files of a run, none where their list is not there or not the one that the service wrote.
func (s *Section) inputs(rec job.Record) []Input {
	list, err := s.volume.ReadInputs(rec)
	if err != nil {
		return []Input{}
	}
	out := make([]Input, 0, min(len(list), maxShownInputs))
	for _, in := range list[:min(len(list), maxShownInputs)] {
		out = append(out, Input{ID: in.ID, Name: results.Plain(in.Name, "file"), Size: in.Size, SHA256: in.SHA256, Version: in.Version})
	}
	return out
}

// alwaysOffered are files of a run that no result names.
var alwaysOffered = []string{results.LogFile, results.EventsFile}

// files are the files of a run that can be downloaded: what its result names, as far as it is still there, its log and its events. The
// model has a page of its own.
func files(root *os.Root, r *results.Result) []File {
	out := []File{}
	names := slices.Clone(alwaysOffered)
	if r != nil {
		names = append(names, results.ResultFile)
		for _, o := range r.Outputs {
			if offered(r, o.Path) {
				names = append(names, o.Path)
			}
		}
	}
	for _, name := range names {
		if info, err := root.Lstat(name); err == nil && info.Mode().IsRegular() {
			out = append(out, File{name, info.Size()})
		}
	}
	slices.SortStableFunc(out, func(a, b File) int { return strings.Compare(path.Dir(b.Path), path.Dir(a.Path)) })
	return out
}

// offered reports whether an output may be downloaded by itself: of a script everything, of a training what is no part of a model.
func offered(r *results.Result, name string) bool {
	return r.Kind == results.ResultScript || path.Dir(name)+"/" == results.OutDir
}

// openFile opens a file of a run that files lists.
func (s *Section) openFile(rec job.Record, name string) (*os.File, os.FileInfo, error) {
	root, err := s.volume.Run(rec.Run).Open()
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = root.Close() }()
	if !slices.ContainsFunc(files(root, s.result(rec)), func(f File) bool { return f.Path == name }) {
		return nil, nil, os.ErrNotExist
	}
	return disk.Open(root, name)
}

// filesOf are the files of a run, none where its folder is gone.
func (s *Section) filesOf(rec job.Record) []File {
	root, err := s.volume.Run(rec.Run).Open()
	if err != nil {
		return []File{}
	}
	defer func() { _ = root.Close() }()
	return files(root, s.result(rec))
}
