// Package boards shows the curves of runs in TensorBoard, behind the login of the studio and with the rights of the runs. TensorBoard gets
// numbers only: this package reads the event files of a run, and sends what they say to the process (trainer/board).
package boards
