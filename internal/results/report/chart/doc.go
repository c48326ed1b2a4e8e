// Package chart draws the charts of a run: as parts of the HTML report (SVG), as Vega-Lite specifications that Clowder draws, and
// as PNG pictures. The same data gives the same bytes.
package chart
