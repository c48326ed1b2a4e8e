package faults

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryFaultHasATest(t *testing.T) {
	t.Parallel()
	known := map[string]map[string]bool{}
	for i, fault := range Matrix() {
		require.Equal(t, i+1, fault.Number, "the numbers have no gaps")
		require.NotEmpty(t, fault.Name)
		require.NotEmpty(t, fault.Tests, fault.Name)
		for _, test := range fault.Tests {
			dir, name, ok := strings.Cut(test, ".")
			require.True(t, ok, test)
			if known[dir] == nil {
				known[dir] = tests(t, filepath.Join("..", "..", filepath.FromSlash(dir)))
			}
			require.True(t, known[dir][name], "fault %d: there is no test %s", fault.Number, test)
		}
	}
	require.Len(t, Matrix(), 63)
}

// pythonTest matches the name of a test in Python.
var pythonTest = regexp.MustCompile(`(?m)^def (test_\w+)\(`)

// tests names the tests in the files of a folder, in Go whatever their build tags, and in Python.
func tests(tb testing.TB, dir string) map[string]bool {
	tb.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(tb, err)
	names := map[string]bool{}
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), ".py") {
			code, err := os.ReadFile(filepath.Join(dir, entry.Name()))
			require.NoError(tb, err)
			for _, found := range pythonTest.FindAllSubmatch(code, -1) {
				names[string(found[1])] = true
			}
		}
		if !strings.HasSuffix(entry.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, entry.Name()), nil, parser.SkipObjectResolution)
		require.NoError(tb, err)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				names[f.Name.Name] = true
			}
		}
	}
	return names
}
