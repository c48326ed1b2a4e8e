// Package message reads extraction messages of Clowder v1 and v2 and writes the status messages that Clowder's job view shows.
//
// [Decode] never panics and never trusts a message: sizes and depths are limited, and ids are checked before they may enter a
// path. As much of a broken message as could be read comes back with the error, so that its sender gets an answer. [EncodeStatus]
// writes texts that neither version of Clowder misreads, and [Throttle] decides when the next status may be sent.
package message
