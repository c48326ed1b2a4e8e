// Package s3 reads code and data from S3-compatible object stores and copies results to them.
//
// Users name objects as s3://bucket/prefix and nothing else. Which hosts the service contacts, with which credentials, and who may use
// them is in a file of the administrator. So no text of a user becomes the name of a host, and credentials never leave the service.
package s3
