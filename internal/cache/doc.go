// Package cache keeps the downloaded files of datasets and links them into the input folders of runs.
//
// Its promises under failure:
//
//   - After [Cache.Commit] returns nil, the bodies and their index entries survive a power cut. An entry is written only after its
//     body is on disk, so a torn body is in no index.
//   - A body is used only if its size, its modification time and its permissions are still the recorded ones.
//   - A damaged index costs downloads. It never keeps the service from starting.
//   - Pods of Ray write to the same volume. A link in the place of a file or a folder is replaced and never followed.
package cache
