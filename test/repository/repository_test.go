// Package repository holds the documents and workflows of the repository to what they refer to.
package repository

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/test/stack"
)

// tracked lists the files of the repository that match the patterns of git.
func tracked(t *testing.T, patterns ...string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"ls-files", "--"}, patterns...)...)
	cmd.Dir = stack.Root()
	out, err := cmd.Output()
	if err != nil {
		t.Skip("this is not a checkout of git")
	}
	return strings.Fields(string(out))
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(stack.Root(), name))
	require.NoError(t, err)
	return string(text)
}

func TestTheREADMEIsShort(t *testing.T) {
	t.Parallel()
	require.LessOrEqual(t, strings.Count(read(t, "README.md"), "\n"), 150, "move details to docs/")
}

func TestLinksBetweenDocumentsLead(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)#]+)(?:#[^)]*)?\)`)
	code := regexp.MustCompile("(?s)```.*?```")
	for _, name := range tracked(t, "*.md") {
		for _, found := range link.FindAllStringSubmatch(code.ReplaceAllString(read(t, name), ""), -1) {
			if target := found[1]; !strings.Contains(target, ":") {
				require.FileExists(t, existing(filepath.Join(stack.Root(), filepath.Dir(name), target)), "%s links to %s", name, target)
			}
		}
	}
}

// existing returns the path, or for a folder a file that is always there.
func existing(path string) string {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return filepath.Join(stack.Root(), "go.mod")
	}
	return path
}

func TestEveryMakeTargetThatIsNamedExists(t *testing.T) {
	t.Parallel()
	makefile := read(t, "Makefile")
	call := regexp.MustCompile("(?:`|run: |^)make ([a-z][a-z0-9-]*)")
	for _, name := range tracked(t, "*.md", ".github", ".ci", ".pre-commit-config.yaml") {
		for line := range strings.Lines(read(t, name)) {
			for _, found := range call.FindAllStringSubmatch(line, -1) {
				require.Regexp(t, `(?m)^`+found[1]+`:`, makefile, "%s names make %s", name, found[1])
			}
		}
	}
}

func TestActionsArePinnedByCommit(t *testing.T) {
	t.Parallel()
	uses := regexp.MustCompile(`(?m)uses: (\S+)(.*)$`)
	pinned := regexp.MustCompile(`^[\w./-]+@[0-9a-f]{40}$`)
	for _, name := range tracked(t, ".github") {
		for _, found := range uses.FindAllStringSubmatch(read(t, name), -1) {
			if strings.HasPrefix(found[1], "./") {
				continue
			}
			require.Regexp(t, pinned, found[1], name)
			require.Regexp(t, `# v\d`, found[2], "%s: name the version of %s, which Dependabot reads", name, found[1])
		}
	}
}

func TestTheTestsThatDocumentsNameExist(t *testing.T) {
	t.Parallel()
	var tests strings.Builder
	for _, name := range tracked(t, "*_test.go") {
		tests.WriteString(read(t, name))
	}
	named := regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9]+)`")
	for _, name := range tracked(t, "*.md") {
		for _, found := range named.FindAllStringSubmatch(read(t, name), -1) {
			require.Contains(t, tests.String(), "func "+found[1]+"(", "%s names %s", name, found[1])
		}
	}
}
