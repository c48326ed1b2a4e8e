// Package form owns extractor_info.json: the heartbeat that registers the extractor, and the form that Clowder draws.
//
// [Parse] checks the file by every rule of Clowder v1 and v2, because both drop a broken heartbeat silently. [Info.Parameters]
// checks what a user posted against the form and fills in the defaults.
package form
