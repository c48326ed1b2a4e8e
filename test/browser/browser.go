// Package browser starts the headless browser that the tests and the pictures of the pages look with.
package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/chromedp/chromedp"
)

// Find returns the program that CHROME names, or else the first of the known ones that is installed. Chromium's headless shell is the
// first: it draws no window and needs half of the CPU time of the whole Chromium. Debian installs it outside the PATH, behind a script
// that would outlive its caller.
func Find() (string, error) {
	for _, name := range []string{
		os.Getenv("CHROME"), "/usr/lib/chromium/chromium-headless-shell", "headless_shell", "headless-shell",
		"chromium", "chromium-browser", "google-chrome", "chrome",
	} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("no Chromium is installed and CHROME does not name one: install Debian's chromium-headless-shell")
}

// Start starts the browser. Its tabs are contexts of chromedp that are made from the returned one. Stop ends it.
func Start(ctx context.Context) (tabs context.Context, stop func(), err error) {
	program, err := Find()
	if err != nil {
		return nil, nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.Flag("hide-scrollbars", true))
	ctx, end := chromedp.NewExecAllocator(ctx, options...)
	tabs, closeTabs := chromedp.NewContext(ctx)
	stop = func() { closeTabs(); end() }
	if err := chromedp.Do(tabs); err != nil {
		stop()
		return nil, nil, fmt.Errorf("start %s: %w", program, err)
	}
	return tabs, stop, nil
}
