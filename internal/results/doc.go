// Package results owns what comes out of a run, be it a training, a check of the data or a prediction: reading what the
// trainer wrote, checking it, making the files that the user gets (model archive, metrics, report, plots), and the ledger
// that delivers each of them exactly once.
//
// It promises that a result is complete and verified or an error, never an empty success; that the same run gives the same
// bytes whenever its deliverables are built; and that an interrupted delivery goes on where it stopped, adopting what has
// arrived and repeating nothing.
//
// Everything in a run folder comes from a program that ran elsewhere on data of strangers, so every size is bounded, every
// path stays below the run folder, and every text is escaped where it is shown. The package does not know how bytes travel:
// HTTP, Clowder and Ray are behind the small interfaces that it defines.
package results
