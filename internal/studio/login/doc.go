// Package login is the login of the studio: it finds out who a visitor is and what Clowder lets them do.
//
// Visitors log in at the Keycloak of Clowder (OpenID Connect, authorization code with PKCE), paste an API key of Clowder once, or, where the
// operator chose that, bring the cookie of Clowder's own page. Scripts send the credential of Clowder in a header. Whichever way, the identity is
// the profile that Clowder returns for the credential, and rights are the roles that Clowder returns; the studio has no accounts of its own.
//
// Its promises:
//
//   - A login ends after 8 hours without a request of a person and 12 hours after its start. An open stream does not keep it alive.
//   - Logins at Keycloak are in memory. A restart costs a redirect to Keycloak, which needs no form while Keycloak knows the browser.
//   - An API key is in a cookie that is sealed with a key derived from STATE_KEY, and nowhere on disk.
//   - Keys, tokens and cookies are in no log line, error or address.
//   - What Clowder said of a visitor is at most a minute old. If Clowder does not answer, it may be older, and allows looking only.
package login
