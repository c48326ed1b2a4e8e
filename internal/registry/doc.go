// Package registry keeps the models that trainings made, as numbered versions of named models, on the shared volume:
//
//	<dir>/<dataset>/<name>/<n>/model/…        what the trainer left in out/model
//	<dir>/<dataset>/<name>/<n>/version.json   where it comes from and how good it is
//	<dir>/<dataset>/<name>/<n>/run            which run made it, should version.json be damaged
//	<dir>/<dataset>/<name>/champion.json      which version is the best
//
// The folder of a dataset is called <mark>-<id>, where the mark is a digest of the address of its Clowder, so that two Clowders with
// the same ids share nothing. Folders of this machine, and those from before there were marks, have no mark. What lies in the
// latter belongs to the dataset of this id of every Clowder, and numbers go on from there.
//
// A version appears at once and complete, by a rename that also takes its number, and never changes afterwards. A training is
// registered once, whatever is killed when: Register looks for its run first and adopts what an earlier call left. Several
// processes may use one registry at the same time.
//
// Other programs can write here. No link is followed, no read is longer than its limit, and what cannot be read is left out and
// told to the operator: it costs those alone who mean exactly that.
//
// It knows nothing of Ray and the report; who may use a model of another dataset is for its caller to say.
package registry
