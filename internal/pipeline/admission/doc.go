// Package admission decides which jobs may go on now: fair queues for bounded slots, a rate limit for each user, and a count of
// each user's active jobs. All of it is kept in memory and rebuilt from the store at every start.
package admission
