// Package labels is the section of the studio in which people label files: those that a prediction names because their label would teach its
// model most, one after the other.
//
// A label is an entry in the metadata of its file in Clowder, written with the credential of the visitor and in their name, where a training reads it
// with label_from. Nothing of it is kept here, so a restart loses nothing.
package labels
