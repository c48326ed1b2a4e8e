// Package tensorboard reads the scalars of TensorBoard event files: the curves that a training program of a user wrote.
//
// The files come from a program that nobody has checked. So everything about them is bounded: the bytes that are read of all files
// together, the size of one record that is decoded, the number of curves and the points of each. A file that is torn, or that is no event
// file, contributes what it has before the damage.
package tensorboard
