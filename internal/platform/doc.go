// Package platform says what the service needs from the place where datasets are kept and results are delivered, and which
// extractors the service has. The packages below it are the two platforms: Clowder, and folders of this machine.
package platform
