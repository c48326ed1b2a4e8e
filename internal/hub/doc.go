// Package hub is a client of the HTTP interface of the Hugging Face Hub and of the mirrors that serve the same addresses.
//
// Its promises under failure:
//
//   - Every error carries an outcome of package job. The text of a permanent error is written for the operator who installs a model.
//   - The token is sent to the endpoint only, never to the host that a redirect leads to. It appears in no error. Query strings appear in
//     none either, because addresses of file hosts carry a signature in them.
//   - A download that breaks off goes on at the byte where it stopped. The bytes themselves are not checked here: [File] has the hashes.
//
// Only plain HTTP is used: the other ways of the Hub to move bytes give the same files. The package does not know where files end up.
package hub
