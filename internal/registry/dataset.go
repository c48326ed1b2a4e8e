package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
)

// Local is the dataset id of models that were trained on a folder of this machine.
const Local = "local"

// Dataset identifies a dataset of one Clowder.
type Dataset struct {
	// Clowder is the normalised address of the Clowder. It is empty for a folder of this machine, and for the versions of older versions
	// of the service, whose folders do not name the Clowder.
	Clowder string
	// ID is the id of the dataset in this Clowder, or Local.
	ID string
	// mark identifies the Clowder if its address is not known.
	mark string
}

var (
	// idForm matches the ids of datasets and runs that can be names of folders.
	idForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)
	// markedForm matches the folder of a dataset of a known Clowder: the mark of the Clowder before an ObjectId or a UUID. No id has this
	// form.
	markedForm = regexp.MustCompile(`^([0-9a-f]{8})-([0-9A-Fa-f]{24}|[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})$`)
)

// Folder is the name of the dataset's folder in the registry. It includes the mark of the Clowder.
func (d Dataset) Folder() string {
	if mark := d.clowder(); mark != "" {
		return mark + "-" + d.ID
	}
	return d.ID
}

// clowder is the mark of the Clowder: a digest of its address. Without a Clowder it is empty.
func (d Dataset) clowder() string {
	if d.mark != "" || d.Clowder == "" {
		return d.mark
	}
	return mark(d.Clowder)
}

func mark(clowder string) string {
	sum := sha256.Sum256([]byte("clowder-ray clowder\x00" + clowder))
	return hex.EncodeToString(sum[:4])
}

// folders are the folders with versions of the dataset: its own, and the one of older versions of the service without a mark.
func (d Dataset) folders() []string {
	switch {
	case !d.valid():
		return nil
	case d.Folder() == d.ID:
		return []string{d.ID}
	default:
		return []string{d.Folder(), d.ID}
	}
}

// valid reports whether the dataset has a folder that belongs only to it.
func (d Dataset) valid() bool {
	if d.clowder() == "" {
		return idForm.MatchString(d.ID) && !markedForm.MatchString(d.ID)
	}
	return markedForm.MatchString(d.Folder())
}

// datasetIn returns the dataset of a folder. Only the mark of its Clowder is known.
func datasetIn(folder string) (Dataset, bool) {
	if parts := markedForm.FindStringSubmatch(folder); parts != nil {
		return Dataset{mark: parts[1], ID: parts[2]}, true
	}
	return Dataset{ID: folder}, idForm.MatchString(folder)
}
