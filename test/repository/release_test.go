package repository

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// A release is one number in several files. The chart names its images by it, Clowder shows it, and build.sh takes it for the name of the files.
func TestTheVersionIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	released := regexp.MustCompile(`(?m)^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d{2}-\d{2}$`).FindStringSubmatch(read(t, "CHANGELOG.md"))
	require.NotNil(t, released, "CHANGELOG.md has no section of a release")
	version := released[1]
	places := map[string][]string{
		"deploy/helm/clowder-ray/Chart.yaml":     {`(?m)^version: (\S+)$`, `(?m)^appVersion: (\S+)$`},
		"deploy/helm/clowder-ray/values.yaml":    {`(?m)^  image: clowder-ray/ray:(\S+)`, `digest, ([\d.]+)@sha256`},
		"deploy/helm/clowder-ray/README.md":      {`clowder-ray/ray:(\S+)`},
		"internal/answer/manifests/manifests.go": {`defaultImage = "clowder-ray/ray:([^"]+)"`},
	}
	for _, form := range tracked(t, "extractor_info*.json") {
		places[form] = []string{`(?m)^  "version": "([^"]+)",$`}
	}
	for file, patterns := range places {
		for _, pattern := range patterns {
			found := regexp.MustCompile(pattern).FindStringSubmatch(read(t, file))
			require.NotNil(t, found, "%s has no text like %s", file, pattern)
			require.Equal(t, version, found[1], "%s has another version than the newest section of CHANGELOG.md: change it", file)
		}
	}
}
