package rayjob

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"regexp"
	"strings"
)

// runPrefix makes the name of a run start with a letter, which DNS labels and Kubernetes names must.
const runPrefix = "ft-"

// runDigits is how many characters of the hash a name contains: 20 characters are 100 bits, and the name stays far below 40
// characters, which leaves KubeRay room for its suffixes.
const runDigits = 20

// RunName is the name of a job of an instance of Clowder in its record, its run folder, its Ray job and its labels. The same
// parts always give the same name, and it is a DNS label.
func RunName(instance, queue, key string) string {
	h := sha256.New()
	var size [8]byte
	for _, part := range []string{instance, queue, key} {
		// The length before each part keeps ("ab", "c") and ("a", "bc") apart.
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.Write([]byte(part))
	}
	return runPrefix + strings.ToLower(base32.StdEncoding.EncodeToString(h.Sum(nil))[:runDigits])
}

// attemptName is the form of Attempt.Name.
var attemptName = regexp.MustCompile(`^(` + runPrefix + `[a-z0-9-]+)-a[0-9]+$`)

// RunOf returns the run of the attempt with this name on Ray. It returns false for a name that no attempt can have.
func RunOf(attempt string) (run string, ok bool) {
	parts := attemptName.FindStringSubmatch(attempt)
	if parts == nil {
		return "", false
	}
	return parts[1], true
}
