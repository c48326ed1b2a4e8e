// Package delivery makes the files that the user gets from a verified result (model archive, metrics, report, plots) and hands them
// over: to a platform, with a ledger that makes each upload happen exactly once, or into a folder.
//
// It promises that the same run gives the same bytes whenever its files are built, and that an interrupted delivery continues where
// it stopped: it adopts what has arrived and repeats nothing. The package does not know how bytes travel: the platform is behind
// the interface Target.
package delivery
