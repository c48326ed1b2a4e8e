// Package chart draws the charts of a run. A Chart or a Matrix holds what is drawn; it is written as a part of the HTML report (SVG),
// as a Vega-Lite specification that Clowder draws, and as a PNG picture. The same data gives the same bytes.
package chart
