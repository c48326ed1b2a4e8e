package clowder

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// checkIDs returns a permanent error that names the first invalid id. The arguments are pairs: what the id is of, and the id.
func checkIDs(pairs ...string) error {
	for i := 0; i+1 < len(pairs); i += 2 {
		if !message.ValidID(pairs[i+1]) {
			return job.Permanent(fmt.Errorf("%q is not a Clowder id of a %s", text.Excerpt(pairs[i+1], 60), pairs[i]))
		}
	}
	return nil
}

// checkName refuses names that a multipart header cannot carry, and names that would be two folders.
func checkName(what, name string) error {
	if name == "" || len(name) > 255 || strings.ContainsAny(name, "/\\") || text.OneLine(name) != name {
		return job.Permanent(errors.New("the " + what + " name " + quoted(name) + " cannot be used in Clowder"))
	}
	return nil
}

// quoted returns a text of Clowder as an error repeats it.
func quoted(s string) string { return fmt.Sprintf("%q", text.Excerpt(s, 40)) }
