// Package raytest holds a Ray Jobs server for tests and the contract that every backend must meet.
//
// The server answers like Ray 2.60, including its oddities: a taken id is a 500 with a traceback, an unknown job a 404 in
// plain text, and a rejected token a 401 or 403 in plain text; the log is empty while a job is pending; a restart forgets
// everything and has a new session name. TestBackend runs against this server and against a real Ray, which keeps the two
// alike.
package raytest
