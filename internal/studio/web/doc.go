// Package web is what all sections of the studio share: links, the layout of pages, the visitor of a request, errors that a visitor reads,
// and the headers of an answer.
package web
