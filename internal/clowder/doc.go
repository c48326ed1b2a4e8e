// Package clowder is the client of the REST interface of Clowder v2. It also stages the files of a dataset for a run.
//
// The extraction messages are in package message, extractor_info.json is in package form, and the cache of downloaded files is in
// package cache.
//
// Its promises under failure:
//
//   - Every error of a call carries an outcome of package job: retryable, permanent, later or unknown. It is decided here, where
//     the answer is known best. The text of a permanent error is written for the scientist who clicked Submit.
//   - A user's key is a job.Secret. It is sent in one request header and appears in no error, log line or status. Query strings do
//     not appear there either, because presigned addresses carry their signature in them.
//   - The address of Clowder comes from the configuration. The host in a message is compared with it and never followed.
//
// The package does not know AMQP, Ray or where results come from.
package clowder
