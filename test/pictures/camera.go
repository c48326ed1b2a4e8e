package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/chromedp/chromedp"
)

// camera photographs pages in a headless browser.
type camera struct {
	ctx context.Context //nolint:containedctx // chromedp keeps the browser in its context
}

// report photographs the top of a page.
func (c *camera) report(address, file string) error {
	return c.photograph(file, chromedp.CaptureScreenshot(),
		chromedp.EmulateViewport(1100, 1040),
		chromedp.Navigate(address),
		chromedp.Sleep(time.Second))
}

// job photographs the log of a job on the page of its dataset.
func (c *camera) job(address, id, file string) error {
	return c.photograph(file, chromedp.Screenshot(`//div[@role="dialog"]`),
		chromedp.EmulateViewport(1300, 1000),
		chromedp.Navigate(address),
		chromedp.Click(`//button[@role="tab"][contains(., "Extraction History")]`),
		chromedp.Click(`//button[normalize-space(text())="`+id+`"]`),
		chromedp.WaitVisible(`//dl/dt`),
		chromedp.Sleep(2*time.Second)) // the window fades in
}

// photograph takes the steps and writes the picture that is captured then to file.
func (c *camera) photograph(file string, capture chromedp.Action[[]byte], steps ...chromedp.Action[chromedp.Void]) error {
	ctx, cancel := context.WithTimeout(c.ctx, time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		return fmt.Errorf("photograph %s: %w", file, err)
	}
	picture, err := chromedp.Run(ctx, capture)
	if err != nil {
		return fmt.Errorf("photograph %s: %w", file, err)
	}
	return os.WriteFile(file, picture, 0o600)
}
