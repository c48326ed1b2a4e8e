package delivery

import (
	"io"
	"os"
	"path"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/report/chart"
)

// The tables of a graph, and the graph that predictions read.
const (
	linksFile      = results.OutDir + "predicted_links.csv"
	embeddingsFile = results.OutDir + "embeddings.parquet"
	storedGraph    = results.ModelDir + "graph.safetensors"
)

// graphTables are the likeliest new edges and the vectors of the nodes. The vectors are a part of the model, so those who want the report
// alone do not get them.
func graphTables(root *os.Root, r *results.Result) []deliverable {
	var list []deliverable
	add := func(file, contentType, title, description string) {
		if o, ok := r.Output(file); ok {
			list = append(list, deliverable{
				Artifact{Name: path.Base(file), ContentType: contentType, Title: title, Description: description},
				func(w io.Writer) error { return results.CopyOutput(w, root, o) },
			})
		}
	}
	add(linksFile, typeCSV, "Predicted links", "The likeliest new edges of each node, with their probabilities. They are guesses.")
	if upload(r) != uploadReport {
		add(embeddingsFile, typeBytes, "Embeddings", "The id and the vector of every node, as a Parquet table.")
	}
	return list
}

// graphPictures are the plots that only graphs have.
func graphPictures(r *results.Result) []deliverable {
	if r.Graph == nil {
		return nil
	}
	picture := chart.Embedding(r.Graph.Picture)
	if picture == nil {
		return nil
	}
	return []deliverable{{
		Artifact{
			Name: "plots/embedding.png", ContentType: typePNG, Show: ShowImage,
			Title:       "Nodes as the model sees them (picture)",
			Description: picture.Summary,
		},
		func(w io.Writer) error { return chart.WritePNG(w, picture) },
	}}
}

// archived reports whether model.zip holds a file of the model. A large graph stays with the registered version.
func archived(r *results.Result, file string) bool {
	return file != storedGraph || r.Graph == nil || r.Graph.Stored == nil || r.Graph.Stored.Delivered
}
