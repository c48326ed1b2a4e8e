package login

import (
	"context"
	"net/http"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// Credential identifies a person to Clowder: an API key or an access token of its Keycloak.
type Credential struct {
	Secret job.Secret
	Token  bool
}

// Clowder says who a person is and what they may do. Its errors carry an outcome of package job.
type Clowder interface {
	// Lend lets a visitor act with the credential.
	Lend(v *web.Visitor, c Credential) error
	// Profile is the person. A refused credential is an error with the status 401.
	Profile(ctx context.Context, c Credential) (clowder.Profile, error)
	// Role is the role of the person in a dataset. clowder.NoRole is no error.
	Role(ctx context.Context, c Credential, dataset string) (clowder.Role, error)
}

// At returns the Clowder of a client, which is of this version.
func At(client *clowder.Client, version versions.Version) Clowder { return configured{client, version} }

// configured is the Clowder at the configured address.
type configured struct {
	client  *clowder.Client
	version versions.Version
}

// session acts with a credential. A Clowder that takes no access tokens refuses one with the status 401.
func (c configured) session(with Credential) (versions.Session, error) {
	switch {
	case !with.Token:
		return c.version.At(c.client, "", with.Secret)
	case c.version.Bearer == nil:
		return nil, job.Permanent(clowder.NewAnswerError(http.StatusUnauthorized, "this Clowder takes API keys only"))
	default:
		return c.version.Bearer(c.client, with.Secret), nil
	}
}

// Lend lets a visitor act with the credential.
func (c configured) Lend(v *web.Visitor, with Credential) (err error) {
	v.Clowder, err = c.session(with)
	return err
}

// Profile asks Clowder for the person.
func (c configured) Profile(ctx context.Context, with Credential) (clowder.Profile, error) {
	s, err := c.session(with)
	if err != nil {
		return clowder.Profile{}, err
	}
	return s.Profile(ctx)
}

// Role asks Clowder for the role.
func (c configured) Role(ctx context.Context, with Credential, dataset string) (clowder.Role, error) {
	s, err := c.session(with)
	if err != nil {
		return clowder.NoRole, err
	}
	return s.Role(ctx, dataset)
}
