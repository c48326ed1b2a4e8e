// Package connect says where connections to Clowder and its object store may lead, and when one is given up: which addresses are served, which a
// download may never reach, which redirects are followed, and how slow a transfer may be. It knows no route of Clowder.
package connect
