package text

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
)

// Number writes a count with commas: "12,345".
func Number[T ~int | ~int64](n T) string { return humanize.Comma(int64(n)) }

// Count writes a number of things: "1 row", "12,345 rows", "3 classes".
func Count[T ~int | ~int64](n T, thing string) string {
	return Number(n) + " " + Plural(n, thing)
}

// Plural writes thing in the number that n asks for: "row", "rows".
func Plural[T ~int | ~int64](n T, thing string) string {
	if n == 1 {
		return thing
	}
	return english.PluralWord(2, thing, "")
}

// Times writes how often something happened: "once", "3 times".
func Times(n int) string {
	if n == 1 {
		return "once"
	}
	return Count(n, "time")
}

// Bytes writes a size in the units of 1,024: "512 B", "1.5 MiB", "734 MiB". A negative size is written as 0.
func Bytes(n int64) string {
	return strings.Replace(humanize.IBytes(uint64(max(0, n))), ".0 ", " ", 1)
}

// Decimal writes v with at most the given number of digits behind the point: "4", "4.17".
func Decimal(v float64, digits int) string {
	scale := math.Pow10(digits)
	return humanize.FtoaWithDigits(math.Round(v*scale)/scale+0, digits) // adding 0 turns -0 into 0
}

// Significant writes v with at most six significant digits, as short as it can be: "0.0002", "2e-05".
func Significant(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// Duration writes a measured duration: "under 0.1 s", "0.4 s", "35 s", "2 min 5 s", "1 h 20 min". A negative one is written as 0.
func Duration(d time.Duration) string {
	switch {
	case d > 0 && d < 50*time.Millisecond:
		return "under 0.1 s"
	case d < 10*time.Second:
		return Decimal(max(0, d).Seconds(), 1) + " s"
	case d < 90*time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 90*time.Minute:
		d = d.Round(time.Second)
		return twoUnits(int(d.Minutes()), "min", int(d.Seconds())%60, "s")
	default:
		d = d.Round(time.Minute)
		return twoUnits(int(d.Hours()), "h", int(d.Minutes())%60, "min")
	}
}

// Latency writes how long an answer took: "0.7 ms", "12 ms", "1.3 s".
func Latency(d time.Duration) string {
	switch d = max(0, d); {
	case d < 9950*time.Microsecond:
		return Decimal(float64(d)/float64(time.Millisecond), 1) + " ms"
	case d < 999500*time.Microsecond:
		return fmt.Sprintf("%.0f ms", float64(d)/float64(time.Millisecond))
	default:
		return Duration(d)
	}
}

// About writes an estimated duration: "35 s", "about 2 min", "about 1 h 20 min". A negative one is written as 0.
func About(d time.Duration) string {
	switch {
	case d < 90*time.Second:
		return fmt.Sprintf("%.0f s", max(0, d).Seconds())
	case d < time.Hour:
		return fmt.Sprintf("about %.0f min", d.Minutes())
	default:
		d = d.Round(10 * time.Minute)
		return "about " + twoUnits(int(d.Hours()), "h", int(d.Minutes())%60, "min")
	}
}

// twoUnits leaves the smaller unit out where it is 0.
func twoUnits(large int, unit string, small int, smallUnit string) string {
	if small == 0 {
		return fmt.Sprintf("%d %s", large, unit)
	}
	return fmt.Sprintf("%d %s %d %s", large, unit, small, smallUnit)
}
