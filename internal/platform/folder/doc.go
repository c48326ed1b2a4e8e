// Package folder is the platform without a Clowder: the dataset is a folder of this machine, and results are copied into another.
package folder
