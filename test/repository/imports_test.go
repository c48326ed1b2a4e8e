package repository

import (
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// An import rule of .golangci.yml that names all that a package may import.
const allowList = "strict"

func TestEveryPackageHasAListOfItsImports(t *testing.T) {
	t.Parallel()
	var config struct {
		Linters struct {
			Settings struct {
				Depguard struct {
					Rules map[string]struct {
						Mode  string   `json:"list-mode"`
						Files []string `json:"files"`
					} `json:"rules"`
				} `json:"depguard"`
			} `json:"settings"`
		} `json:"linters"`
	}
	require.NoError(t, yaml.Unmarshal([]byte(read(t, ".golangci.yml")), &config))
	listed := map[string]bool{}
	for _, rule := range config.Linters.Settings.Depguard.Rules {
		for _, files := range rule.Files {
			if dir, isPackage := strings.CutSuffix(files, "/*.go"); rule.Mode == allowList && isPackage {
				listed[strings.TrimPrefix(dir, "**/")] = true
			}
		}
	}
	packages := map[string]bool{}
	for _, file := range tracked(t, "internal/*.go", "cmd/*.go", "trainer/*.go") {
		if !strings.HasSuffix(file, "_test.go") {
			packages[path.Dir(file)] = true
		}
	}
	for dir := range packages {
		require.True(t, listed[dir], "%s: write a list of its imports into .golangci.yml", dir)
	}
	for dir := range listed {
		require.True(t, packages[dir], "%s is in .golangci.yml and is gone", dir)
	}
}
