// Package deliver takes a job from finished to uploaded: it verifies what the run left behind, registers its model, builds the files that users
// get, and hands them over.
//
// Each step looks for what an earlier try has done: a version of a run is registered once, files that are built are found, and the ledger of
// the delivery is on disk before its first effect. What collecting has built stays in memory until it is uploaded; after a kill it is read
// and built again. What a run left on the volume is not trusted. The package knows nothing of Ray.
package deliver
