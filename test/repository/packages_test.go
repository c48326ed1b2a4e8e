package repository

import (
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// filesOfAPackage is more than one idea needs; a package near it is worth a look. Tests do not count.
const filesOfAPackage = 30

func TestNoPackageHasMoreFilesThanOneIdeaNeeds(t *testing.T) {
	t.Parallel()
	files := map[string]int{}
	for _, name := range tracked(t, "*.go", "*.py") {
		if dir := path.Dir(name); !strings.HasPrefix(dir+"/", "trainer/tests/") && !strings.HasSuffix(name, "_test.go") {
			files[dir]++
		}
	}
	for dir, count := range files {
		require.LessOrEqual(t, count, filesOfAPackage, "split %s into packages with one idea each", dir)
	}
}
