package clowder

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Profile is a user as Clowder knows them.
type Profile struct {
	Email     string `json:"email"`
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	// AdminMode is true while an administrator acts with the rights of one.
	AdminMode bool `json:"admin_mode"`
	// ReadOnly is true for a user who may change nothing, whatever their role.
	ReadOnly bool `json:"read_only_user"`
}

// Name is what to call the user: their name, or their e-mail address without one.
func (p Profile) Name() string {
	if name := text.OneLine(strings.TrimSpace(p.FirstName + " " + p.LastName)); name != "" {
		return name
	}
	return p.Email
}

var (
	// ErrUnknownUser is the error about a user of Keycloak who never opened Clowder. Most routes of v2 answer 500 to them.
	ErrUnknownUser = errors.New("Clowder does not know you yet: open Clowder once, then come back") //nolint:staticcheck // a name
	// ErrNobody is the error about a key that belongs to an installation and not to a person.
	ErrNobody = errors.New("this is the key of the Clowder installation and not of a person: use an API key of your own")
)

// Profile returns the user of the session. The error is ErrUnknownUser for an access token whose user Clowder does not know.
func (s *Session) Profile(ctx context.Context) (Profile, error) {
	var me Profile
	c := get("identify the owner of the API key", "use Clowder", "users", "profile")
	if s.bearer {
		c.what = "identify you"
	}
	c.into = &me
	switch err := s.do(ctx, c); {
	case StatusOf(err) == http.StatusNotFound:
		return Profile{}, job.Permanent(ErrUnknownUser)
	case err != nil:
		return Profile{}, err
	case me.Email == "" || len(me.Email) > maxLabel: // one that is cut could be that of another user
		return Profile{}, job.Permanent(errors.New("Clowder returned no valid e-mail address for this user")) //nolint:staticcheck // a name
	}
	me.FirstName, me.LastName = text.Shorten(me.FirstName, maxLabel), text.Shorten(me.LastName, maxLabel)
	return me, nil
}

// Role is what a user may do with a dataset. Each role includes the roles below it.
type Role string

// The roles, highest first. A user with NoRole may not see the dataset.
const (
	RoleOwner    Role = "owner"
	RoleEditor   Role = "editor"
	RoleUploader Role = "uploader"
	RoleViewer   Role = "viewer"
	NoRole       Role = ""
)

// AtLeast reports whether the role is other or a higher one.
func (r Role) AtLeast(other Role) bool { return r.rank() >= other.rank() }

// rank is 0 for no role and for one that this version does not know.
func (r Role) rank() int { return slices.Index(ranks, r) + 1 }

// ranks are the roles, lowest first.
var ranks = []Role{RoleViewer, RoleUploader, RoleEditor, RoleOwner}

// CanEdit reports whether a user with this role may change the files of other users.
func (r Role) CanEdit() bool { return r == RoleOwner || r == RoleEditor }

// Role returns what the user of the session may do with a dataset. For a dataset that is not there v2 has an error of the server, and no answer.
func (s *Session) Role(ctx context.Context, datasetID string) (Role, error) {
	if err := checkIDs("dataset", datasetID); err != nil {
		return NoRole, err
	}
	var out struct {
		Role Role `json:"role"`
	}
	c := get("look up your role in the dataset", mayView, "authorizations", "datasets", datasetID, "role")
	c.into = &out
	err := s.attempt(ctx, c)
	if StatusOf(err) == http.StatusInternalServerError {
		if _, other := s.Dataset(ctx, datasetID); StatusOf(other) == http.StatusNotFound {
			return NoRole, nil
		}
	}
	if kind, _ := job.Classify(err); err != nil && kind != job.KindPermanent {
		err = s.do(ctx, c)
	}
	if err != nil {
		if StatusOf(err) == http.StatusNotFound {
			return NoRole, nil
		}
		return NoRole, err
	}
	return out.Role, nil
}
