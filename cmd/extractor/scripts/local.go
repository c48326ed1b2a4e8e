package scripts

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ncsa/clowder-ray/internal/job"
)

// Auto is the value of --script with which the script is found by its name or because it is the only one.
const Auto = "auto"

// Local returns the values of the form for a script of the folder dataset: its path, which may begin at the folder or here, and its
// arguments. The error is permanent.
func Local(dataset, entry string, arguments []string) (map[string]any, error) {
	values := map[string]any{}
	if len(arguments) > 0 {
		values["arguments"] = quote(arguments)
	}
	if entry == Auto {
		return values, nil
	}
	inside, err := within(dataset, entry)
	if err != nil {
		return nil, err
	}
	values["script"] = inside
	return values, nil
}

// within returns the path of the script below the folder of the dataset, with slashes.
func within(dataset, entry string) (string, error) {
	root, err := filepath.Abs(dataset)
	if err != nil {
		return "", err
	}
	for _, path := range []string{filepath.Join(dataset, entry), entry} {
		abs, err := filepath.Abs(path)
		if err != nil || !isFile(abs) {
			continue
		}
		if rel, err := filepath.Rel(root, abs); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel), nil
		}
		return "", job.Permanent(fmt.Errorf("--script: %s is not in the folder %s: put it there, because the script sees only that folder", entry, dataset))
	}
	return "", job.Permanent(fmt.Errorf("--script: there is no file %s in the folder %s", entry, dataset))
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// quote writes arguments as one text that a shell, and the trainer, splits into the same arguments.
func quote(arguments []string) string {
	quoted := make([]string, len(arguments))
	for i, one := range arguments {
		quoted[i] = one
		if one == "" || strings.ContainsFunc(one, needsQuotes) {
			quoted[i] = "'" + strings.ReplaceAll(one, "'", `'"'"'`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

func needsQuotes(r rune) bool {
	plain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_@%+=:,./{}-", r)
	return !plain
}

// ErrNoArguments says that arguments after -- are for scripts only.
var ErrNoArguments = errors.New("arguments after -- are for a script: add --script FILE")
