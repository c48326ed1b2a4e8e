package clowder

import (
	"context"
	"net/http"
)

// Role is what a user may do with a dataset; each one includes those after it.
type Role string

// The roles, the greatest first. NoRole is that of somebody who may not even see the dataset.
const (
	RoleOwner    Role = "owner"
	RoleEditor   Role = "editor"
	RoleUploader Role = "uploader"
	RoleViewer   Role = "viewer"
	NoRole       Role = ""
)

// CanEdit reports whether a user of this role may change what others put into the dataset.
func (r Role) CanEdit() bool { return r == RoleOwner || r == RoleEditor }

// Role returns what the user of the session may do with a dataset.
func (s *Session) Role(ctx context.Context, datasetID string) (Role, error) {
	if err := checkIDs("dataset", datasetID); err != nil {
		return NoRole, err
	}
	var out struct {
		Role Role `json:"role"`
	}
	c := get("say what you may do with the dataset", mayView, "authorizations", "datasets", datasetID, "role")
	c.into = &out
	if err := s.do(ctx, c); err != nil {
		if StatusOf(err) == http.StatusNotFound {
			return NoRole, nil
		}
		return NoRole, err
	}
	return out.Role, nil
}
