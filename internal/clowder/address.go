package clowder

// Address is the one spelling of the address that a message names as its host, by which jobs, runs and models of different
// Clowders are told apart: lower case, without default port, slash at the end or user name. It says nothing about whether this
// extractor serves that Clowder. What is no address at all comes back as it is.
func Address(host string) string {
	if u, err := parseOrigin(withoutUser(host)); err == nil {
		return u.String()
	}
	return host
}

// Address is the address of the Clowder that the session speaks with, in the spelling of the function of this name.
func (s *Session) Address() string { return s.base.String() }
