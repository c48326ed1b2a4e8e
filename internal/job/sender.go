package job

// Sender is who sent the message of a job: a person, or Clowder by itself.
type Sender string

const (
	// Person submitted the job.
	Person Sender = "person"
	// Feed is a search that Clowder keeps, whose new matches it submits by itself.
	Feed Sender = "feed"
	// NewVersion is a file that got a new version: Clowder submits again what was submitted for the version before it.
	NewVersion Sender = "new version"
)

// ByItself reports whether no person asked for the job.
func (s Sender) ByItself() bool { return s == Feed || s == NewVersion }
