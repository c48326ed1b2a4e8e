// Package basemodels has the commands that install base models on the shared volume, list, verify, bundle and remove them.
//
// It connects package hub, which talks to the Hub, with package basemodel, which owns the folder of models. Results go to stdout; questions,
// progress and warnings go to stderr. The token of the Hub appears in neither.
package basemodels
