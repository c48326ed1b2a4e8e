// Package studio has the settings of the web page of the service, and what connects the page with the parts of the service.
package studio
