package trainer

import (
	_ "embed"
	"regexp"
)

// The lock files of the image of Ray: the core libraries, and what networks need beside them.
var (
	//go:embed requirements-core.txt
	coreRequirements string
	//go:embed requirements.txt
	networkRequirements string
)

// pinned matches a package of a lock file.
var pinned = regexp.MustCompile(`(?m)^([A-Za-z0-9][A-Za-z0-9._-]*)==([^\s;\\]+)`)

// Packages returns the version of each Python package that the image of Ray has, by its name.
func Packages() map[string]string {
	packages := map[string]string{}
	for _, lock := range []string{coreRequirements, networkRequirements} {
		for _, match := range pinned.FindAllStringSubmatch(lock, -1) {
			packages[match[1]] = match[2]
		}
	}
	return packages
}
