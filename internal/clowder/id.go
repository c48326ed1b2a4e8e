package clowder

import (
	"encoding/hex"
	"fmt"

	"github.com/google/uuid"

	"github.com/ncsa/clowder-ray/internal/job"
)

// objectIDLen is the length of a MongoDB ObjectId in hex, the form of every id of Clowder v2 and of old ones of v1.
const objectIDLen = 24

// validID reports whether id has one of the two forms that Clowder gives out: 24 hex digits or a UUID with dashes. Only
// such a text may become part of a path.
func validID(id string) bool {
	if len(id) == objectIDLen {
		_, err := hex.DecodeString(id)
		return err == nil
	}
	return len(id) == 36 && uuid.Validate(id) == nil
}

// checkIDs returns a permanent error that names the first of the ids that is not one; pairs are what, id.
func checkIDs(pairs ...string) error {
	for i := 0; i+1 < len(pairs); i += 2 {
		if !validID(pairs[i+1]) {
			return job.Permanent(fmt.Errorf("%q is not a Clowder id of a %s", shorten(pairs[i+1], 60), pairs[i]))
		}
	}
	return nil
}
