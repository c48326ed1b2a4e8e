package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/chromedp/chromedp"
)

// pictureTimeout covers a picture, with the training that it waits for.
const pictureTimeout = 5 * time.Minute

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

// runName is the name of the run that is photographed while it goes on.
const runName = "a small BERT"

// run logs in to the studio with a key, opens the page of the run as soon as it is there, and photographs it after so many epochs.
func (c *camera) run(studio, key, dataset string, epochs int, file string) error {
	list := studio + "/datasets/" + dataset + "/runs"
	link := `[...document.querySelectorAll("main a")].find(a => a.textContent.trim() === ` + strconv.Quote(runName) + `)`
	epoch := `Number((document.querySelector("main")?.textContent.match(/Epoch (\d+) of/) ?? [0, 0])[1])`
	return c.photograph(file, chromedp.CaptureScreenshot(),
		chromedp.EmulateViewport(1300, 1230),
		chromedp.Navigate(studio+"/login"),
		chromedp.SendKeys("#key", key),
		chromedp.Click(`form button`),
		chromedp.WaitNotPresent("#key"),
		chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
			return until(ctx, func() (bool, error) {
				if err := chromedp.Do(ctx, chromedp.Navigate(list)); err != nil {
					return false, err
				}
				return chromedp.Run(ctx, chromedp.Evaluate[bool](link+` !== undefined`))
			})
		}),
		chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
			page, err := chromedp.Run(ctx, chromedp.Evaluate[string](link+`.href`))
			if err != nil {
				return err
			}
			return chromedp.Do(ctx, chromedp.Navigate(page))
		}),
		chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
			return until(ctx, func() (bool, error) {
				return chromedp.Run(ctx, chromedp.Evaluate[bool](epoch+` > `+strconv.Itoa(epochs)))
			})
		}))
}

// until looks again and again until what it waits for is there.
func until(ctx context.Context, there func() (bool, error)) error {
	for {
		if ok, err := there(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// photograph takes the steps and writes the picture that is captured then to file.
func (c *camera) photograph(file string, capture chromedp.Action[[]byte], steps ...chromedp.Action[chromedp.Void]) error {
	ctx, cancel := context.WithTimeout(c.ctx, pictureTimeout)
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
