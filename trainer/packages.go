package trainer

import (
	_ "embed"
	"regexp"
)

// requirements is the lock file of the image of Ray.
//
//go:embed requirements.txt
var requirements string

// pinned matches a package of a lock file.
var pinned = regexp.MustCompile(`(?m)^([A-Za-z0-9][A-Za-z0-9._-]*)==([^\s;\\]+)`)

// Packages returns the version of each Python package that the image of Ray has, by its name.
func Packages() map[string]string {
	packages := map[string]string{}
	for _, match := range pinned.FindAllStringSubmatch(requirements, -1) {
		packages[match[1]] = match[2]
	}
	return packages
}
