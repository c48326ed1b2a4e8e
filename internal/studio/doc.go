// Package studio is the web page of the service: runs, models and files of the datasets that a visitor may see in Clowder, and the JSON API
// behind it. It is served on an address of its own, apart from /metrics.
//
// A request passes the headers of package web, the protection against requests of other origins, and the login. Behind it are the sections:
// runs, live, models and edit. Each asks for what it needs through interfaces; none knows RabbitMQ, Ray or the pipeline.
package studio
