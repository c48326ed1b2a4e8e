// Package disk reads and writes folders that other programs write to, and says how much room a disk has.
//
// A program that shares a folder with the service can put a link, a pipe or a file of any size in the place of what the service
// expects, at any moment. So a path on the shared volume is never opened by its text alone: [Folder] opens a folder without
// following a link, and [Open], [ReadFile], [Link] and [WriteFile] work below the root that it returns. Any package may use
// this one; it uses none of the others.
package disk
