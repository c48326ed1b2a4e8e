// Package live is the part of the studio that moves: it follows the event logs and the logs of runs while people look at them, and sends
// what is new to their browsers.
//
// A Hub has one watch for each run that somebody looks at, however many they are. The watch reads the run folder once a second, which NFS
// feels as one reader. Each viewer first gets a snapshot of all that is known, and from then on what is new. The id of an event is the byte
// offset after its line in events.jsonl, so a viewer that comes back after a break, or after a restart of the service, goes on where it was.
package live
