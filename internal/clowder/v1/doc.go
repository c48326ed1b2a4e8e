// Package v1 has the routes of the REST interface of Clowder v1, on the connections, retries, limits and staging of package clowder.
//
// What v1 does otherwise than v2, and what this package makes of it:
//
//   - 401 is the answer to a wrong key, to a missing right, and to something that does not exist. Only GET /api/me tells them apart, so it is
//     asked after each 401. A right that is missing becomes status 403, and something that cannot be read becomes 404, as v2 answers.
//   - A key of the whole installation is taken as a query parameter only. It is sent in this way after v1 has refused it as a header.
//   - An upload is answered before the file is stored, so each upload waits until it is.
//   - There are no cards on a dataset. Pictures are shown as previews of files.
package v1
