// Package request serves the requests about runs and models of a dataset: it lists, cancels, stops and retries runs, and lists, promotes and
// exports models.
//
// What a request is about is stored before anything is done to it, so a request that goes on after a kill is about the same run or model, and
// an effect that an interrupted try has had is not repeated. Nothing is done that the user may not do. The package knows records of other jobs
// and commands about them, and nothing of Ray, messages and files.
package request
