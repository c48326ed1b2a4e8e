// Package crash names the instants at which a kill of the service hurts most, and lets a test kill it exactly there.
// In a normal build At does nothing and costs nothing; with the build tag "crash" it ends the process at the point that
// the environment variable CRASH_AT names.
package crash

// Point is one named instant.
type Point string

// The points, in the order in which a job meets them.
const (
	Accepted      Point = "accepted"       // the record is on disk, the delivery is not acknowledged
	Acked         Point = "acked"          // the delivery is acknowledged
	Greeted       Point = "greeted"        // the first status is confirmed, the record does not say so
	Downloaded    Point = "downloaded"     // the files are staged, spec.json is not written
	Specified     Point = "specified"      // spec.json is written, the record still says accepted
	Submitted     Point = "submitted"      // Ray has the attempt, the record does not say so
	Observed      Point = "observed"       // Ray said SUCCEEDED, the record does not say so
	Copied        Point = "copied"         // the model lies in the registry, but has no number yet
	Registered    Point = "registered"     // it is a version, the champion is not decided
	Built         Point = "built"          // the deliverables are built, the record does not say so
	UploadPending Point = "upload-pending" // the ledger says pending, nothing is uploaded
	UploadDone    Point = "upload-done"    // Clowder has it, the ledger still says pending
	Delivered     Point = "delivered"      // everything is uploaded, the record does not say so
	Telling       Point = "telling"        // the end is about to be told, nothing is sent
	Told          Point = "told"           // the terminal status is confirmed, the record does not say so
)

// Points lists all points; the test of the service kills it at each of them.
func Points() []Point {
	return []Point{
		Accepted, Acked, Greeted, Downloaded, Specified, Submitted, Observed, Copied, Registered, Built,
		UploadPending, UploadDone, Delivered, Telling, Told,
	}
}
