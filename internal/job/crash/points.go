// Package crash names the points at which a kill of the service is most harmful, and allows a test to kill it exactly there. In a
// normal build At does nothing and costs nothing. With the build tag "crash" it ends the process at the point that the environment
// variable CRASH_AT names.
package crash

// Point is the name of one point.
type Point string

// The points, in the order in which a job meets them.
const (
	Accepted      Point = "accepted"       // the record is on disk, the delivery is not acknowledged
	Acked         Point = "acked"          // the delivery is acknowledged
	Joined        Point = "joined"         // a new file has joined an automatic run, its delivery is not acknowledged
	StartSent     Point = "start-sent"     // the first status is confirmed, the record does not say so, which may last some seconds
	PartStaged    Point = "part-staged"    // some of several datasets are staged, the files of the others are not listed
	Downloaded    Point = "downloaded"     // the files are staged, inputs.json is not written and the record says accepted
	Packed        Point = "packed"         // the packages of a script are installed, their folder does not have its name
	Specified     Point = "specified"      // spec.json is written, the record says staged
	Submitted     Point = "submitted"      // Ray has the attempt, the record does not say so
	Observed      Point = "observed"       // Ray said SUCCEEDED, or a failed script left files; the record does not say so
	Copied        Point = "copied"         // the model is in the registry, but has no number yet
	Registered    Point = "registered"     // the model is a version, the champion is not decided
	Built         Point = "built"          // the deliverables are built, the record does not say so
	UploadPending Point = "upload-pending" // the ledger says pending, nothing is uploaded
	UploadDone    Point = "upload-done"    // Clowder has the file, the ledger still says pending
	FileDone      Point = "file-done"      // one file is in Clowder, others are on their way, the ledger says pending for all
	FilesChecked  Point = "files-checked"  // all files and charts are in Clowder, nothing says what the files are
	Delivered     Point = "delivered"      // everything is uploaded, the record does not say so
	EndDecided    Point = "end-decided"    // the record says how the job ends, the terminal status is not sent
	EndSent       Point = "end-sent"       // the terminal status is confirmed, the record does not say so
)

// Points lists the points of a training; the test of the service kills it at each of them. Joined, the point of an automatic run,
// Packed, the point of a script, and PartStaged, the point of a job of several datasets, have tests of their own.
func Points() []Point {
	return []Point{
		Accepted, Acked, StartSent, Downloaded, Specified, Submitted, Observed, Copied, Registered, Built,
		UploadPending, UploadDone, FileDone, FilesChecked, Delivered, EndDecided, EndSent,
	}
}
