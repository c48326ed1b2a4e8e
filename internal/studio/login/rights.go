package login

import (
	"context"
	"sync"
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// roleOf is one login and one dataset.
type roleOf struct{ login, dataset string }

// roleEntry is the last answer about a role.
type roleEntry struct {
	asking sync.Mutex // held while Clowder is asked
	role   clowder.Role
	asked  time.Time
}

// Role is the role of a visitor in a dataset, as Clowder says. An answer counts for a minute, and one that gives no role for ten seconds. While
// Clowder does not answer, an older one counts for looking only. An invalid id gives no role, as one of no dataset does.
func (a *Authenticator) Role(ctx context.Context, v *web.Visitor, dataset string) (clowder.Role, error) {
	if v == nil || clowder.CheckIDs("dataset", dataset) != nil {
		return clowder.NoRole, nil //nolint:nilerr // nobody learns what is wrong with an id
	}
	who, found := a.users.known.Get(v.Session)
	if !found {
		return clowder.NoRole, ended()
	}
	role, err := a.users.role(ctx, who, dataset)
	if unauthorized(err) {
		return clowder.NoRole, ended()
	}
	return role, err
}

func (u *userCache) role(ctx context.Context, who *cachedUser, dataset string) (clowder.Role, error) {
	key, entry := roleOf{who.name, dataset}, &roleEntry{}
	if earlier, found, _ := u.roles.PeekOrAdd(key, entry); found {
		entry = earlier
		u.roles.Get(key) // used now
	}
	c, err := who.credential(ctx) // also where the role is known: a stream ends with its login
	if err != nil {
		return clowder.NoRole, err
	}
	profile, err := u.profile(ctx, who, c)
	if err != nil {
		return clowder.NoRole, err
	}
	entry.asking.Lock()
	defer entry.asking.Unlock()
	age, life := u.now().Sub(entry.asked), freshFor
	if entry.role == clowder.NoRole {
		life = refusedFor
	}
	if !entry.asked.IsZero() && age < life {
		return limited(entry.role, profile.ReadOnly), nil
	}
	role, err := ask(ctx, func(ctx context.Context) (clowder.Role, error) { return u.clowder.Role(ctx, c, dataset) })
	u.outage.note(u.now(), err)
	switch {
	case err == nil:
		entry.role, entry.asked = role, u.now()
	case !refusal(err) && entry.role != clowder.NoRole && age < staleFor:
		return limited(entry.role, true), nil
	default:
		return clowder.NoRole, err
	}
	return limited(role, profile.ReadOnly), nil
}

// limited is a role of somebody who may look only.
func limited(role clowder.Role, look bool) clowder.Role {
	if look && role.AtLeast(clowder.RoleViewer) {
		return clowder.RoleViewer
	}
	return role
}
