package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
)

// Local stands for the dataset of models that were trained on a folder of this machine.
const Local = "local"

// Dataset says whose models are meant: those of a dataset of one Clowder.
type Dataset struct {
	// Clowder is the address of the Clowder, always in the same spelling. It is empty for a folder of this machine, and where
	// only the versions are meant that were registered before folders named the Clowder.
	Clowder string
	// ID is the id that this Clowder gave the dataset, or Local.
	ID string
	// mark stands for the Clowder where no more than its mark is known.
	mark string
}

var (
	// idForm admits the ids of datasets and runs as names of folders: nothing of that form leads anywhere else.
	idForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)
	// markedForm is the folder of a dataset of a known Clowder: the mark of the Clowder before an ObjectId or a UUID. No id
	// alone has this form.
	markedForm = regexp.MustCompile(`^([0-9a-f]{8})-([0-9A-Fa-f]{24}|[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})$`)
)

// Folder is the folder of the dataset below the registry. It tells the Clowder, so two Clowders with the same ids share nothing.
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

// folders are where versions of the dataset lie: its own folder, and the one from before folders named the Clowder.
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

// valid reports whether the dataset can name a folder, and the folder this dataset only.
func (d Dataset) valid() bool {
	if d.clowder() == "" {
		return idForm.MatchString(d.ID) && !markedForm.MatchString(d.ID)
	}
	return markedForm.MatchString(d.Folder())
}

// datasetIn returns the dataset whose folder has this name. Of its Clowder the mark is known.
func datasetIn(folder string) (Dataset, bool) {
	if parts := markedForm.FindStringSubmatch(folder); parts != nil {
		return Dataset{mark: parts[1], ID: parts[2]}, true
	}
	return Dataset{ID: folder}, idForm.MatchString(folder)
}
