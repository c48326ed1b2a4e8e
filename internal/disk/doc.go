// Package disk reads and writes folders that other programs write to, and returns the free space of a disk.
//
// A program that shares a folder with the service can at any moment put a link, a pipe or a large file in the place of a file. So a path
// on the shared volume is never opened directly: [Folder] opens a folder without following links, and [Open], [ReadFile], [Link] and
// [WriteFile] work below the root that it returns. Any package may import this one; it imports none of the others.
package disk
