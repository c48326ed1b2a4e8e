// Package mailtest is a double of an SMTP server.
package mailtest

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// Server takes messages from everybody, without TLS.
type Server struct {
	// Address is host:port.
	Address string
	// Messages has the headers and bodies of those that arrived.
	Messages chan string

	refuse atomic.Int64
}

// New starts a server that ends with the test. It refuses as many messages as refuse says, for the moment.
func New(tb testing.TB, refuse int) *Server {
	tb.Helper()
	listener, err := (&net.ListenConfig{}).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	require.NoError(tb, err)
	s := &Server{Address: listener.Addr().String(), Messages: make(chan string, 100)}
	s.refuse.Store(int64(refuse))
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { s.serve(conn) })
		}
	})
	tb.Cleanup(func() { _ = listener.Close(); serving.Wait() })
	return s
}

func (s *Server) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	lines := bufio.NewScanner(conn)
	say := func(line string) { _, _ = fmt.Fprint(conn, line+"\r\n") }
	say("220 ready")
	for lines.Scan() {
		switch verb, _, _ := strings.Cut(strings.ToUpper(lines.Text()), " "); verb {
		case "QUIT":
			say("221 closed")
			return
		case "MAIL":
			if s.refuse.Add(-1) >= 0 {
				say("451 try again later")
				continue
			}
			say("250 ok")
		case "DATA":
			say("354 send the message")
			var message strings.Builder
			for lines.Scan() && lines.Text() != "." {
				message.WriteString(lines.Text() + "\n")
			}
			s.Messages <- message.String()
			say("250 ok")
		default:
			say("250 ok")
		}
	}
}
