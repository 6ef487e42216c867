// Reverse-complement: write each DNA sequence backwards, every letter replaced by its complement.
//
// Input on stdin: FASTA text. Output: each sequence with its header as it was, the letters of the other strand, 60 a line.
//
// Technique: the input is kept as it comes, newlines and all, in a list of blocks that grows, so nothing is copied when
// it does. A sequence that is complete is rendered from its last block to its first, several blocks at a time, while the
// reader reads on; a writer keeps the order, and returns the blocks to the reader, because half the cost of a new block
// is its first touch. Letters are complemented in pairs, by a table of all pairs, eight to a word.
//
// Rule of the task: the input is read piece by piece into data that grows; its size is not asked for, and no line length
// is presumed.
package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
)

const (
	lineLength = 60
	blockSize  = 1 << 17
	wordSize   = 8
)

// pairs holds for two letters, the first one in the low byte, their complements the other way round.
var pairs [1 << 16]uint16

func init() {
	var complement [256]byte
	for i := range complement {
		complement[i] = byte(i)
	}
	const letters, complements = "ABCDGHKMNRSTUVWY", "TVGHCDMKNYSAABWR"
	for i := range letters {
		complement[letters[i]] = complements[i]
		complement[letters[i]|0x20] = complements[i] // lower case
	}
	for i := range pairs {
		pairs[i] = uint16(complement[i>>8]) | uint16(complement[i&0xff])<<8
	}
}

// reverseWord returns the complements of eight letters, in reverse order.
func reverseWord(letters uint64) uint64 {
	return uint64(pairs[uint16(letters)])<<48 | uint64(pairs[uint16(letters>>16)])<<32 |
		uint64(pairs[uint16(letters>>32)])<<16 | uint64(pairs[uint16(letters>>48)])
}

// reverse sets the n bytes of to before end to the reverse complement of the first n bytes of from. It goes by whole
// words, so up to seven bytes more are read of from, and written before the n of to.
func reverse(to []byte, end int, from []byte, n int) {
	for i := 0; i < n; i += wordSize {
		word := reverseWord(binary.LittleEndian.Uint64(from[i : i+wordSize : i+wordSize]))
		binary.LittleEndian.PutUint64(to[end-wordSize:end:end], word)
		end -= wordSize
	}
}

// A block is a piece of the input, with room for a word after its end.
type block [blockSize + wordSize]byte

// A blockPool keeps the blocks that may be used again.
type blockPool struct {
	mutex sync.Mutex
	free  []*block
}

func (p *blockPool) get() *block {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	last := len(p.free) - 1
	if last < 0 {
		return new(block)
	}
	b := p.free[last]
	p.free = p.free[:last]
	return b
}

func (p *blockPool) put(b *block) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.free = append(p.free, b)
}

// A piece is the part of a sequence that lies in one block: whole lines and parts of lines, with their newlines.
type piece struct {
	text    []byte
	letters int
	spent   *block // the block, if no later piece lies in it
}

// A sequence is a header line, empty if the input starts with none, and the pieces that follow it.
type sequence struct {
	header []byte
	pieces []piece
}

func (s *sequence) add(text []byte, spent *block) {
	letters := len(text) - bytes.Count(text, newline)
	s.pieces = append(s.pieces, piece{text, letters, spent})
}

var newline = []byte{'\n'}

// A splitter cuts the blocks of the input into sequences.
type splitter struct {
	sequence    sequence // what there is of the current one
	inHeader    bool     // its header is not complete
	atLineStart bool
	complete    chan<- sequence
}

// split takes the text of b.
func (s *splitter) split(b *block, text []byte) {
	for {
		if s.inHeader {
			end := bytes.IndexByte(text, '\n') + 1
			s.inHeader = end == 0
			if s.inHeader {
				end = len(text)
			}
			s.sequence.header = append(s.sequence.header, text[:end]...)
			s.atLineStart = !s.inHeader
			text = text[end:]
		}
		start := s.findHeader(text)
		if start < 0 {
			break
		}
		s.sequence.add(text[:start], nil)
		s.complete <- s.sequence
		s.sequence = sequence{}
		s.inHeader = true
		text = text[start:]
	}
	s.sequence.add(text, b)
	if len(text) > 0 {
		s.atLineStart = text[len(text)-1] == '\n'
	}
}

// findHeader returns the index of the first '>' at the start of a line, or -1.
func (s *splitter) findHeader(text []byte) int {
	for from := 0; ; {
		i := bytes.IndexByte(text[from:], '>')
		if i < 0 {
			return -1
		}
		i += from
		if i == 0 && s.atLineStart || i > 0 && text[i-1] == '\n' {
			return i
		}
		from = i + 1
	}
}

// read cuts the input into sequences until its end, then closes complete.
func read(in io.Reader, pool *blockPool, complete chan<- sequence) error {
	defer close(complete)
	s := splitter{atLineStart: true, complete: complete}
	for {
		b := pool.get()
		n, err := io.ReadFull(in, b[:blockSize])
		s.split(b, b[:n])
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			break
		}
		if err != nil {
			return err
		}
	}
	complete <- s.sequence
	return nil
}

// A chunk is a part of the output.
type chunk struct {
	buffer []byte
	text   []byte        // the part of buffer to be written
	spent  *block        // a block that may be used again when text is written
	ready  chan struct{} // receives when text is complete
}

// render sets the text to the reverse complement of p, where column letters of the current line have been put out.
// The last piece of a sequence to be put out ends its line.
func (c *chunk) render(p piece, column int, last bool) {
	size := p.letters + (column+p.letters)/lineLength
	column = (column + p.letters) % lineLength // from here on that of the text's end
	if len(c.buffer) < wordSize+size+1 {
		c.buffer = make([]byte, wordSize+size+1)
	}
	end := wordSize + size
	c.text = c.buffer[wordSize:end]
	if last && column > 0 {
		c.buffer[end] = '\n'
		c.text = c.buffer[wordSize : end+1]
	}
	c.spent = p.spent
	for text := p.text; len(text) > 0; {
		n := bytes.IndexByte(text, '\n')
		rest := n + 1
		if n < 0 {
			n = len(text)
			rest = n
		}
		for from := 0; from < n; {
			if column == 0 {
				end--
				c.buffer[end] = '\n'
				column = lineLength
			}
			run := min(n-from, column)
			reverse(c.buffer, end, text[from:cap(text)], run)
			from += run
			end -= run
			column -= run
		}
		text = text[rest:]
	}
	c.ready <- struct{}{}
}

// A pipeline holds the chunks: free ones, and those that wait for the writer.
type pipeline struct {
	free   chan *chunk
	queued chan *chunk
}

func newPipeline() *pipeline {
	chunks := 2*runtime.GOMAXPROCS(0) + 2
	p := &pipeline{make(chan *chunk, chunks), make(chan *chunk, chunks)}
	for range chunks {
		p.free <- &chunk{ready: make(chan struct{}, 1)}
	}
	return p
}

// render queues the sequences as they are complete, until there are no more.
func (p *pipeline) render(complete <-chan sequence) {
	for s := range complete {
		c := <-p.free
		c.text = s.header
		c.ready <- struct{}{}
		p.queued <- c
		column := 0
		for i := len(s.pieces) - 1; i >= 0; i-- {
			c := <-p.free
			go c.render(s.pieces[i], column, i == 0)
			p.queued <- c
			column = (column + s.pieces[i].letters) % lineLength
		}
	}
	close(p.queued)
}

// write puts out chunks in the order of the queue until it is closed, and returns the first error.
func (p *pipeline) write(out io.Writer, pool *blockPool) error {
	var failure error
	for c := range p.queued {
		<-c.ready
		if failure == nil {
			_, failure = out.Write(c.text)
		}
		if c.spent != nil {
			pool.put(c.spent)
			c.spent = nil
		}
		p.free <- c
	}
	return failure
}

func run() error {
	pool := new(blockPool)
	complete := make(chan sequence, 1)
	p := newPipeline()
	written := make(chan error)
	go func() { written <- p.write(os.Stdout, pool) }()
	go p.render(complete)
	if err := read(os.Stdin, pool, complete); err != nil {
		return err
	}
	return <-written
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "reverse-complement:", err)
		os.Exit(1)
	}
}
