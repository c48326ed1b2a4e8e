// Package versions is the list of the versions of Clowder that the service talks to, and what all of them do. The rest of the service has a
// Session and asks for abilities; it compares no numbers.
package versions

import (
	"maps"
	"slices"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/ability"
	v1 "github.com/ncsa/clowder-ray/internal/clowder/v1"
	"github.com/ncsa/clowder-ray/internal/job"
)

// Version is one version of Clowder. The zero value is none.
type Version struct {
	ability.Set
	Number int
	// At returns a session for a message with this host. A configured address overrides the host. The host is empty for the Clowder at the
	// configured address. An error is permanent and written for the user.
	At func(c *clowder.Client, host string, key job.Secret) (Session, error)
	// Bearer returns a session for an access token, at the configured address. It is nil for a Clowder that takes API keys only.
	Bearer func(c *clowder.Client, token job.Secret) Session
	// about is the path below its address at which the Clowder says its version.
	about []string
}

// all are the versions that the service talks to, the one first to which messages and records without a number belong.
//
//nolint:gochecknoglobals // a table
var all = []Version{
	{Number: clowder.Number, Set: clowder.Abilities(), At: at((*clowder.Client).At), Bearer: bearer((*clowder.Client).Bearer), about: clowder.About()},
	{Number: v1.Number, Set: v1.Abilities(), At: at(v1.At), about: v1.About()},
}

// Of returns the version with a number. Messages and records from the time before there were two versions have the number 0; they and
// unknown numbers are of Clowder v2.
func Of(number int) Version {
	if i := slices.IndexFunc(all, func(v Version) bool { return v.Number == number }); i >= 0 {
		return all[i]
	}
	return all[0]
}

// Numbers are the numbers of all versions, the lowest first.
func Numbers() []int { return slices.Sorted(maps.Keys(Abouts())) }

// Abouts has, by version, the path below its address at which a Clowder says its version; see [clowder.Client.Check].
func Abouts() map[int][]string {
	out := map[int][]string{}
	for _, v := range all {
		out[v.Number] = v.about
	}
	return out
}

// at returns open as a function that returns any session.
func at[S Session](open func(*clowder.Client, string, job.Secret) (S, error)) func(*clowder.Client, string, job.Secret) (Session, error) {
	return func(c *clowder.Client, host string, key job.Secret) (Session, error) {
		s, err := open(c, host, key)
		if err != nil {
			return nil, err
		}
		return s, nil
	}
}

func bearer[S Session](open func(*clowder.Client, job.Secret) S) func(*clowder.Client, job.Secret) Session {
	return func(c *clowder.Client, token job.Secret) Session { return open(c, token) }
}
