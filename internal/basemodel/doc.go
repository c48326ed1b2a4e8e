// Package basemodel owns the folder of installed base models on the shared volume: <models>/<org>/<name>/, one folder for each model.
//
// A [Source] offers the files of a model: the Hub, a folder, a ZIP file. [Store.Plan] looks at a source and says what an installation would
// load; [Store.Install] loads, checks and completes the files in <models>/.part/ and moves the finished folder to its place. A
// folder at its place is complete: it holds safetensors, config.json, a tokenizer or an image processor, and model.json, which says where
// the files come from and what they are.
//
// Its promises under failure:
//
//   - A reader of <models>/<org>/<name>/ sees the old model, the new one or none, and never a part of one.
//   - What was loaded before a kill is not loaded again.
//   - Nothing of a source is run. Files with code are not loaded, weights in pickled form are refused, and no path of a source leads out of the
//     folder of its model.
//
// The package does not know the protocol of the Hub, nor who asked.
package basemodel
