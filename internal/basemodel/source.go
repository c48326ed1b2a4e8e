package basemodel

import (
	"context"
	"io"
)

// Source offers the files of one model.
type Source interface {
	// Look says what there is. It loads no file with weights.
	Look(ctx context.Context) (Offer, error)
	// Open reads a file of the offer from the byte at offset on. The caller closes it. The bytes are not checked here.
	Open(ctx context.Context, f File, offset int64) (io.ReadCloser, error)
}

// Offer is what a source says about its model.
type Offer struct {
	// ID is <org>/<name>, or empty where the source knows no name.
	ID string
	// Source, Endpoint, Commit and Revision are those of [Model].
	Source, Endpoint, Commit, Revision string
	// License is empty where the source names none.
	License string
	// ConvertedFrom is that of [Model]. Described is true if the hashes of the files come from a model.json beside them.
	ConvertedFrom []string
	Described     bool
	// Files are all files of the model. [Store.Plan] chooses those that are loaded.
	Files []File
}

// File is one file of a source.
type File struct {
	// Path is relative, with slashes. It comes from the source and is checked before it is used.
	Path string
	// Size is in bytes.
	Size int64
	// SHA256 and GitSHA1 are in hex. A source may know one of them or none. GitSHA1 is the name that git gives to the content.
	SHA256, GitSHA1 string
}

// The sources of a model.
const (
	SourceHub    = "hub"
	SourceFolder = "folder"
	SourceZIP    = "zip"
)
