// Package raytest holds a Ray Jobs server for tests and the contract that every backend keeps.
//
// The server answers as Ray 2.60 does, its oddities included: an id that is taken is a 500 with a traceback, an unknown job
// a 404 in plain text, a refused token 401 or 403 in plain text, the log is empty while a job is pending, and a restart
// forgets everything under a new session name. TestBackend is run against this server and against a real Ray, which is
// what keeps the two alike.
package raytest
