// Package models is the section of the studio about trained models: their versions and champions, single answers of a model, downloads, and
// the Open Inference Protocol v2 for programs of visitors.
package models
