package faults

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// reports is how many public reports the table in test/clowder2/README.md has.
const reports = 25

// namedTest is a test as the table names it: the folder and the test, or a file of tests of the trainer.
var namedTest = regexp.MustCompile("`((?:cmd|internal|test|trainer)/[\\w/]+)\\.(Test\\w+|test_\\w+|py)`")

// TestEveryPublicReportHasATest: the table of public reports names tests that exist, and each report has one against the double.
func TestEveryPublicReportHasATest(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile(filepath.Join("..", "clowder2", "README.md"))
	require.NoError(t, err)
	known := map[string]map[string]bool{}
	rows := 0
	for line := range strings.Lines(string(doc)) {
		cells := strings.Split(line, "|")
		if len(cells) < 6 {
			continue
		}
		if _, err := strconv.Atoi(strings.TrimSpace(cells[1])); err != nil {
			continue
		}
		rows++
		require.Equal(t, strconv.Itoa(rows), strings.TrimSpace(cells[1]), "the numbers have no gaps")
		require.NotEmpty(t, namedTest.FindAllString(cells[4], -1), "report %d has no test", rows)
		for _, named := range namedTest.FindAllStringSubmatch(line, -1) {
			dir, name := named[1], named[2]
			if name == "py" {
				require.FileExists(t, filepath.Join("..", "..", dir+".py"), "report %d", rows)
				continue
			}
			if known[dir] == nil {
				known[dir] = tests(t, filepath.Join("..", "..", filepath.FromSlash(dir)))
			}
			require.True(t, known[dir][name], "report %d: there is no test %s.%s", rows, dir, name)
		}
		bare := namedTest.ReplaceAllString(cells[4], "")
		require.NotContains(t, bare, "`", "report %d names something else than a test", rows)
	}
	require.Equal(t, reports, rows)
}
