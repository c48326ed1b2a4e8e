// Package hubtest is a double of the Hugging Face Hub, with faults.
//
// It serves what package hub and the Python client huggingface_hub ask for: what a revision holds, and its files. Large files come from a
// second server on another port, to which the first one redirects, as at the real Hub. A contract test runs huggingface_hub against it.
package hubtest
