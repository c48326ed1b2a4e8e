// Package registry stores the trained models on the shared volume, as numbered versions of named models:
//
//	<dir>/<dataset>/<name>/<n>/model/…        what the trainer left in out/model
//	<dir>/<dataset>/<name>/<n>/version.json   its origin and its scores
//	<dir>/<dataset>/<name>/<n>/run            the run that made it, in case version.json is damaged
//	<dir>/<dataset>/<name>/champion.json      which version is the best
//
// The folder of a dataset is named <mark>-<id>. The mark is a digest of the address of its Clowder, so that two Clowders with the same
// ids share nothing. Folders of this machine have no mark, and neither have folders of older versions of the service. The latter count
// as folders of each Clowder with a dataset of this id, and new versions continue their numbers.
//
// A version appears complete by one rename, which also takes its number, and never changes afterwards. A training is registered once,
// also if processes are killed: Register first looks for a version of its run and adopts it. Several processes may use one registry at
// the same time.
//
// Other programs can write to the folders. Links are not followed, all reads have limits, and unreadable versions are skipped and
// reported to the operator. Only a user who asks for exactly such a version gets an error.
//
// The package knows neither Ray nor the report. Its caller decides who may use a model of another dataset.
package registry
