// Package clowder is the platform of a Clowder of either version: it stages datasets, delivers results and checks rights with the key of the user
// who submitted the job.
//
// Every delivery is a list of steps in a ledger. A step looks for its effect before it is repeated, so a delivery that was cut
// at any point is completed without duplicates.
package clowder
