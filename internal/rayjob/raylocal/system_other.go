//go:build !linux

package raylocal

import (
	"errors"
	"syscall"
)

var errLinuxOnly = errors.New("a local Ray needs Linux: set RAY_ADDRESS to a Ray cluster instead")

func attributes(bool) (*syscall.SysProcAttr, error) { return nil, errLinuxOnly }

func lock(string) (unlock func() error, err error) { return nil, errLinuxOnly }
