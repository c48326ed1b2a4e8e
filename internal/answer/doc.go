// Package answer asks the answer process for single answers of registered models. The process speaks the Open Inference Protocol v2
// (trainer/answer). Where the service has a Python, Local starts one when it is needed; it ends by itself after a time without questions.
// Elsewhere it is a server of its own, at PREDICTOR_URL.
package answer
