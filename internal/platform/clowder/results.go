package clowder

import (
	"regexp"
	"strings"

	"github.com/ncsa/clowder-ray/internal/clowder"
)

// resultFolders are the folders of a dataset that hold the results of runs. The folder finetune may also hold data of users.
type resultFolders map[string]bool

// ofRun is the name of a folder that a delivery makes: the day, the model and the run.
var ofRun = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}(-[a-z0-9]+){2,}$`)

// resultsAmong finds the folders of runs: those with a manifest, and those with the name of a run, whose delivery may not be over.
func resultsAmong(files []clowder.File) resultFolders {
	folders := resultFolders{}
	for _, f := range files {
		inside, ok := strings.CutPrefix(f.Path, resultsRoot+"/")
		if !ok {
			continue
		}
		folder, name, ok := strings.Cut(inside, "/")
		if ok && (name == "manifest.json" || ofRun.MatchString(folder)) {
			folders[folder] = true
		}
	}
	return folders
}

// hold reports whether a file is among the results of a run.
func (r resultFolders) hold(f clowder.File) bool {
	inside, ok := strings.CutPrefix(f.Path, resultsRoot+"/")
	folder, _, below := strings.Cut(inside, "/")
	return ok && below && r[folder]
}
