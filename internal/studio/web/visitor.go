package web

import (
	"context"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
)

// Visitor is the person behind a request.
type Visitor struct {
	Email, Name string
	// Clowder acts with the visitor's own credential. What it can do depends on the version of Clowder.
	Clowder versions.Session
	// CanSave says that Clowder takes new versions of files from this login.
	CanSave bool
	// Session names the login for quotas and presence. It tells no secret.
	Session string
}

type visitorKey struct{}

// WithVisitor returns a context of a request of v.
func WithVisitor(ctx context.Context, v *Visitor) context.Context {
	return context.WithValue(ctx, visitorKey{}, v)
}

// VisitorOf returns the visitor of a request, or nil before the login.
func VisitorOf(ctx context.Context) *Visitor {
	v, _ := ctx.Value(visitorKey{}).(*Visitor)
	return v
}

// Rights answers what a visitor may do with a dataset.
type Rights interface {
	// Role is Clowder's role of the visitor in the dataset, at most a minute old; clowder.NoRole is no error.
	Role(ctx context.Context, v *Visitor, dataset string) (clowder.Role, error)
}

// CheckRole returns the visitor's role if it is at least as high as needed: NotFound for those who may not see the dataset, and a problem
// of status 403 that names the role for those who may see it only.
func CheckRole(ctx context.Context, rights Rights, dataset string, needed clowder.Role) (clowder.Role, error) {
	role, err := rights.Role(ctx, VisitorOf(ctx), dataset)
	switch {
	case err != nil:
		return clowder.NoRole, err
	case role == clowder.NoRole:
		return clowder.NoRole, NotFound
	case !role.AtLeast(needed):
		return role, &Problem{
			Type: "forbidden", Title: "Your role does not allow this", Status: 403,
			Detail: "You are " + string(role) + " of this dataset; this needs the role " + string(needed) + ".",
			Do:     "Ask an owner of the dataset to give you that role in Clowder.",
		}
	}
	return role, nil
}
