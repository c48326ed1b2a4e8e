// Package registry keeps the models that trainings made, as numbered versions of named models, on the shared volume:
//
//	<dir>/<dataset>/<name>/<n>/model/…        what the trainer left in out/model
//	<dir>/<dataset>/<name>/<n>/version.json   where it comes from and how good it is
//	<dir>/<dataset>/<name>/champion.json      which version is the best
//
// A version appears at once and complete, by a rename that also takes its number, and never changes afterwards. A training is
// registered once, whatever is killed when: Register looks for its run first and adopts what an earlier call left. Several
// processes may use one registry at the same time.
//
// It knows nothing of Clowder, Ray and the report; who may use a model of another dataset is for its caller to say.
package registry
