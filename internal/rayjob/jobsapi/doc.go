// Package jobsapi runs trainings on any Ray cluster whose dashboard can be reached, through the Ray Jobs REST API.
//
// It owns the wire types of that API and what its answers mean. The submission id is the idempotency key: an attempt is
// started once however often it is submitted, and one that is found under its name is adopted after a look at whose it
// is. All attempts together are observed through one listing per interval, whoever asks how often. What Ray answers is
// foreign text: it is decoded with bounds, cut, and never trusted to be of a version that was seen before.
//
// When Ray cannot be reached nothing is known, so the answer is an error and no verdict. A refused token is an error of
// the service's settings; jobs wait until the operator mends it.
package jobsapi
