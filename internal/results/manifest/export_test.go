package manifest

// What the tests outside of the package look at.
var (
	New            = newManifest
	DecodeManifest = decodeManifest
)
