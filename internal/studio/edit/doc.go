// Package edit is the section of the studio for the text files of a dataset: settings and code. It opens them, checks them, and saves them as
// new versions in Clowder.
//
// Clowder compares no versions, so two people who save can undo each other's work. This section therefore compares before it saves: a save names
// the version that its text came from, and is refused where a newer one exists. One service owns the files of a Clowder, so a lock in the
// process is enough among the users of the studio. Somebody who saves through Clowder itself in the same instant is found afterwards, by two
// versions with the same number.
//
// The truth is Clowder's version, always. Nothing of a text is kept here.
package edit
