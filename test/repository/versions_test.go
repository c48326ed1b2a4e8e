package repository

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// asksVersion matches what asks for the version of a Clowder, or names one of its clients.
var asksVersion = regexp.MustCompile(`APIVersion\s*(==|!=|<|>)|switch .*APIVersion|ClowderVersion\s*(==|!=|<|>)|"github.com/ncsa/clowder-ray/internal/clowder/v\d+"`)

// knowVersions are the folders in which clients of a version, messages of a version and the settings of the service are.
var knowVersions = []string{"internal/clowder", "internal/clowder/message", "internal/clowder/v1", "internal/clowder/versions", "cmd/extractor"}

func TestOnlyTheClientsOfClowderKnowItsVersions(t *testing.T) {
	t.Parallel()
	for _, file := range tracked(t, "internal/*.go", "cmd/*.go") {
		if strings.HasSuffix(file, "_test.go") || slices.Contains(knowVersions, path.Dir(file)) {
			continue
		}
		require.Empty(t, asksVersion.FindString(read(t, file)), "%s: ask for an ability of Clowder, not for its version (docs/development.md, A version of Clowder)", file)
	}
}
