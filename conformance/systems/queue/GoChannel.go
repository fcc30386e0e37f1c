// A buffered channel of Go behind the port "queue": JSON lines on stdin and stdout, as
// docs/adapter-protocol.md describes them. Standard library only; `go run GoChannel.go` runs it.
//
// A put or take that waits is a goroutine. When all has come to rest the runtime knows: whatever
// makes room, or brings an item, hands it over to the goroutine that has waited longest, and makes
// that one runnable before it returns itself. So once each goroutine of ours is gone or waits, none of
// them can take a step without a new request. No clock is looked at.

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"
)

// call is a put or a take, in a goroutine of its own.
type call struct {
	ticket string
	puts   bool
	stop   chan struct{} // closed: what waits is to be undone
	result chan *string  // one place: the item, or nil if it was undone
}

func (c *call) perform(queue chan string, item string) {
	if c.puts {
		select {
		case queue <- item:
			c.result <- &item
		case <-c.stop:
			c.result <- nil
		}
		return
	}
	select {
	case taken := <-queue:
		c.result <- &taken
	case <-c.stop:
		c.result <- nil
	}
}

var (
	header  = regexp.MustCompile(`^goroutine \d+ \[([a-z ]+)`)
	waiting = map[string]bool{"select": true, "chan send": true, "chan receive": true}
	stacks  = make([]byte, 1<<16)
)

// ours is in the stack of each goroutine that begin started, also of one that has not run yet.
const ours = "created by main.(*adapter).begin"

// rested says whether each goroutine that performs a call waits; those that have ended are gone.
func rested() bool {
	written := runtime.Stack(stacks, true)
	for written == len(stacks) {
		stacks = make([]byte, 2*len(stacks))
		written = runtime.Stack(stacks, true)
	}
	for _, stack := range strings.Split(string(stacks[:written]), "\n\n") {
		state := header.FindStringSubmatch(stack)
		if state != nil && strings.Contains(stack, ours) && !waiting[state[1]] {
			return false
		}
	}
	return true
}

func settle() {
	for !rested() {
		runtime.Gosched()
	}
}

type request struct {
	ID       int             `json:"id"`
	Do       string          `json:"do"`
	Item     json.RawMessage `json:"item"` // a text or a number, as JSON has it
	Ticket   string          `json:"ticket"`
	Settings map[string]int  `json:"settings"`
}

type message map[string]any

type adapter struct {
	queue   chan string
	waits   []*call
	tickets int
}

func told(c *call, item *string) any {
	if c.puts {
		return true
	}
	return json.RawMessage(*item)
}

// events tells of the calls that have ended, in the order in which they began.
func (a *adapter) events() []message {
	var ended []message
	var left []*call
	for _, each := range a.waits {
		select {
		case item := <-each.result:
			ended = append(ended, message{"done": each.ticket, "ok": told(each, item)})
		default:
			left = append(left, each)
		}
	}
	a.waits = left
	return ended
}

func (a *adapter) begin(puts bool, item string) message {
	started := &call{puts: puts, stop: make(chan struct{}), result: make(chan *string, 1)}
	go started.perform(a.queue, item)
	settle()
	select {
	case item := <-started.result:
		return message{"ok": told(started, item)}
	default:
	}
	a.tickets++
	started.ticket = fmt.Sprintf("t%d", a.tickets)
	a.waits = append(a.waits, started)
	return message{"waiting": started.ticket}
}

func (a *adapter) cancel(ticket string) message {
	for at, each := range a.waits {
		if each.ticket == ticket {
			close(each.stop)
			settle()
			item := <-each.result
			if item == nil {
				a.waits = append(a.waits[:at:at], a.waits[at+1:]...)
			} else {
				each.result <- item // it had completed: its event is told
			}
			return message{"ok": item == nil}
		}
	}
	return message{"error": "unknown-ticket", "definite": true}
}

func (a *adapter) answer(asked request) message {
	switch asked.Do {
	case "offer":
		select {
		case a.queue <- string(asked.Item):
			return message{"ok": true}
		default:
			return message{"ok": false}
		}
	case "poll":
		select {
		case item := <-a.queue:
			return message{"ok": json.RawMessage(item)}
		default:
			return message{"ok": nil}
		}
	case "put":
		return a.begin(true, string(asked.Item))
	case "take":
		return a.begin(false, "")
	case "cancel":
		return a.cancel(asked.Ticket)
	case "size":
		return message{"ok": len(a.queue)}
	case "settle":
		return message{"ok": true}
	}
	return message{"error": "unknown-operation", "definite": true}
}

func (a *adapter) close() {
	for _, each := range a.waits {
		close(each.stop)
	}
}

func main() {
	var current *adapter
	requests := bufio.NewScanner(os.Stdin)
	requests.Buffer(nil, 1<<24)
	replies := json.NewEncoder(os.Stdout)
	for requests.Scan() {
		var asked request
		if err := json.Unmarshal(requests.Bytes(), &asked); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		var reply message
		if asked.Do == "hello" {
			if current != nil {
				current.close()
			}
			current = &adapter{queue: make(chan string, asked.Settings["capacity"])}
			reply = message{"ok": message{
				"name": "Go channel", "version": runtime.Version(), "policy": "wait",
				"can": []string{"offer", "poll", "put", "take", "cancel", "size"}}}
		} else {
			reply = current.answer(asked)
		}
		settle()
		reply["id"] = asked.ID
		if ended := current.events(); ended != nil {
			reply["events"] = ended
		}
		if replies.Encode(reply) != nil {
			return
		}
	}
}
