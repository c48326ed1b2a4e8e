// Package ability names what a Clowder can do. The service asks for abilities and never for a version, so that another version of Clowder
// changes nothing but the list in package versions.
package ability

// Set is what a Clowder can do. The zero value can do nothing of it. What is done with a session is not here: a session has the methods for
// it, or does not have them.
type Set struct {
	// ShowsJobs: users can list their own jobs, and read a job of a dataset that they see.
	ShowsJobs bool
	// ConfirmsStatuses: it can be asked later whether it has a status of a job.
	ConfirmsStatuses bool
	// CancelsQueued: its page can cancel a submission, but only while the message is in the queue.
	CancelsQueued bool
	// DropsReplyQueue: some of its messages no longer name the queue for statuses, although earlier ones did.
	DropsReplyQueue bool
	// OffersForFiles: the page of a single file offers the extractors that name file types. Without this ability, such an extractor gets a
	// job for each upload.
	OffersForFiles bool
	// SubmitsFiles: it submits single files by itself, those that match a feed and those that got a new version, with messages that look
	// like those of a person.
	SubmitsFiles bool
	// RefusesWith500: its answer to some of what it refuses is the status 500, so a 500 may stay the same however often the call is repeated.
	RefusesWith500 bool
}
