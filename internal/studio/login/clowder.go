package login

import (
	"context"
	"net/http"

	"github.com/ncsa/clowder-ray/internal/clowder"
	v1 "github.com/ncsa/clowder-ray/internal/clowder/v1"
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

// At returns the Clowder of a client. Only version 2 takes access tokens.
func At(client *clowder.Client, version int) Clowder {
	if version == 1 {
		return first{client}
	}
	return second{client}
}

// second is a Clowder v2.
type second struct{ client *clowder.Client }

// Lend lets a visitor act with the credential.
func (s second) Lend(v *web.Visitor, c Credential) error {
	v.Clowder = s.session(c)
	return nil
}

func (s second) session(c Credential) *clowder.Session {
	if c.Token {
		return s.client.Bearer(c.Secret)
	}
	return s.client.As(c.Secret)
}

// Profile asks Clowder for the person.
func (s second) Profile(ctx context.Context, c Credential) (clowder.Profile, error) {
	return s.session(c).Profile(ctx)
}

// Role asks Clowder for the role.
func (s second) Role(ctx context.Context, c Credential, dataset string) (clowder.Role, error) {
	return s.session(c).Role(ctx, dataset)
}

// first is a Clowder v1.
type first struct{ client *clowder.Client }

// Lend lets a visitor act with the key.
func (f first) Lend(v *web.Visitor, c Credential) (err error) {
	v.Clowder = f.client.As(c.Secret)
	v.V1, err = v1.At(f.client, "", c.Secret)
	return err
}

// Profile asks Clowder for the person.
func (f first) Profile(ctx context.Context, c Credential) (clowder.Profile, error) {
	if c.Token {
		return clowder.Profile{}, job.Permanent(clowder.NewAnswerError(http.StatusUnauthorized, "Clowder v1 takes API keys only"))
	}
	session, err := v1.At(f.client, "", c.Secret)
	if err != nil {
		return clowder.Profile{}, err
	}
	return session.Profile(ctx)
}

// Role asks Clowder for the role.
func (f first) Role(ctx context.Context, c Credential, dataset string) (clowder.Role, error) {
	session, err := v1.At(f.client, "", c.Secret)
	if err != nil {
		return clowder.NoRole, err
	}
	return session.Role(ctx, dataset)
}
