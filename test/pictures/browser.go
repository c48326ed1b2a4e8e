package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/chromedp/chromedp"
)

// browser is a headless Chromium.
type browser struct {
	ctx   context.Context //nolint:containedctx // chromedp keeps the browser in its context
	close func()
}

// openBrowser starts the Chromium that is installed.
func openBrowser(ctx context.Context) (*browser, error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.Flag("hide-scrollbars", true))
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	ctx, end := chromedp.NewContext(ctx)
	b := &browser{ctx: ctx, close: func() { end(); stop() }}
	if err := chromedp.Do(ctx); err != nil {
		b.close()
		return nil, fmt.Errorf("start Chromium (install the package chromium): %w", err)
	}
	return b, nil
}

// report photographs the top of a page.
func (b *browser) report(address, file string) error {
	return b.photograph(file, chromedp.CaptureScreenshot(),
		chromedp.EmulateViewport(1100, 1040),
		chromedp.Navigate(address),
		chromedp.Sleep(time.Second))
}

// job photographs the log of a job on the page of its dataset.
func (b *browser) job(address, id, file string) error {
	return b.photograph(file, chromedp.Screenshot(`//div[@role="dialog"]`),
		chromedp.EmulateViewport(1300, 1000),
		chromedp.Navigate(address),
		chromedp.Click(`//button[@role="tab"][contains(., "Extraction History")]`),
		chromedp.Click(`//button[normalize-space(text())="`+id+`"]`),
		chromedp.WaitVisible(`//dl/dt`),
		chromedp.Sleep(2*time.Second)) // the window fades in
}

// photograph takes the steps and writes the picture that is captured then to file.
func (b *browser) photograph(file string, capture chromedp.Action[[]byte], steps ...chromedp.Action[chromedp.Void]) error {
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
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
