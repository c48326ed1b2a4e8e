// Package requirements installs the packages that requirements.txt of a user names, beside those of the image of Ray.
//
// A file may name packages, versions and markers, and nothing else: no address, no path and no option reaches uv, which resolves and
// installs. Packages are wheels, so none of their code runs here. The packages of one file become an overlay: a folder on the shared volume
// that is named by its content, shared by all runs, and read-only for them. Those of the image that everything depends on, such as torch,
// keep their version.
package requirements
