package clowder

import (
	"context"
	"net/http"
)

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

// CanEdit reports whether a user with this role may change the files of other users.
func (r Role) CanEdit() bool { return r == RoleOwner || r == RoleEditor }

// Role returns what the user of the session may do with a dataset.
func (s *Session) Role(ctx context.Context, datasetID string) (Role, error) {
	if err := checkIDs("dataset", datasetID); err != nil {
		return NoRole, err
	}
	var out struct {
		Role Role `json:"role"`
	}
	c := get("look up your role in the dataset", mayView, "authorizations", "datasets", datasetID, "role")
	c.into = &out
	if err := s.do(ctx, c); err != nil {
		if StatusOf(err) == http.StatusNotFound {
			return NoRole, nil
		}
		return NoRole, err
	}
	return out.Role, nil
}
