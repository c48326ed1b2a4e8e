// Package answer asks the answer process for single answers of registered models. The process speaks the Open Inference Protocol v2
// (trainer/answer). The service starts one (NewLocal), or another one is at PREDICTOR_URL.
package answer
