package message

import (
	"encoding/hex"

	"github.com/google/uuid"
)

// ObjectIDLen is the length of a MongoDB ObjectId in hex, the form of every id of Clowder v2 and of old ids of v1.
const ObjectIDLen = 24

// ValidID reports whether id has one of the two forms of Clowder's ids: 24 hex digits, or a UUID with dashes. Only such a text may
// become part of a path.
func ValidID(id string) bool {
	if len(id) == ObjectIDLen {
		_, err := hex.DecodeString(id)
		return err == nil
	}
	return len(id) == 36 && uuid.Validate(id) == nil
}
