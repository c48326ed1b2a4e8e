// Package clowder speaks to Clowder: it decodes extraction messages, words the status messages that Clowder's job view
// shows, owns extractor_info.json, and is the client of the REST interface of Clowder v2.
//
// Its promises under failure:
//
//   - Decoding never panics and never trusts: sizes and depths are capped, ids are checked before they may enter a path,
//     and as much of a broken message as could be read comes back with the error, so that the sender can be told.
//   - Every error of a call carries an outcome of package job (retryable, permanent, later, unknown), decided here where
//     the answer is known best. Texts of permanent errors are meant for the scientist who clicked Submit.
//   - A key of a user is a job.Secret from the moment it is decoded. It travels in one request header and appears in no
//     error, log line or status; neither do query strings, because presigned addresses carry their signature there.
//   - The address of Clowder comes from the configuration. What a message names as its host is compared, never followed.
//
// The package does not know AMQP, Ray or where results come from.
package clowder
