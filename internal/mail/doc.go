// Package mail tells users by e-mail how their jobs ended.
package mail
