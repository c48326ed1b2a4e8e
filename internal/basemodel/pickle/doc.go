// Package pickle reads the tensors of a PyTorch checkpoint and writes them as safetensors, without being able to run code.
//
// A checkpoint is a pickle: a program for a small stack machine that may name any function of Python and call it. The machine here knows
// the instructions that make plain values, and of all functions only those that build a tensor, which it carries out itself. Every other
// name ends the conversion with an error that says the name.
//
// A file may also claim sizes that it does not have. So nothing is allocated by a size in the file before that size was compared with the
// length of the file, the number of instructions is limited, and the tensors are copied from file to file. The reader is written here and
// no library is used, since the one for Go allocates what the file claims, and returns half and bfloat16 numbers as float32.
package pickle
