// Fasta: write one repeated and two random DNA sequences.
//
// Argument: N, the unit of length; the sequences have 2N, 3N and 5N letters. Output: FASTA text, 60 letters a line.
//
// Technique: a pipeline. The random numbers form one chain, each made from the one before, so they are drawn by one
// goroutine; it hands each block of them to a goroutine of the block's own that turns numbers into letters, and a
// writer puts the finished blocks out in order. A fixed set of blocks goes round. Letters are found by a binary search
// without branches, because the branches of a search for a random number are mispredicted.
//
// Rule of the task: one step of the linear congruential generator a letter, in its plain form, each letter searched
// for in the cumulative probabilities; no table of numbers or letters that stands in for either.
package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strconv"
)

const (
	lineLength = 60
	blockLines = 512
)

const alu = "GGCCGGGCGCGGTGGCTCACGCCTGTAATCCCAGCACTTTGG" +
	"GAGGCCGAGGCGGGCGGATCACCTGAGGTCAGGAGTTCGAGA" +
	"CCAGCCTGGCCAACATGGTGAAACCCCGTCTCTACTAAAAAT" +
	"ACAAAAATTAGCCGGGCGTGGTGGCGCGCGCCTGTAATCCCA" +
	"GCTACTCGGGAGGCTGAGGCAGGAGAATCGCTTGAACCCGGG" +
	"AGGCGGAGGTTGCAGTGAGCCGAGATCGCGCCACTGCACTCC" +
	"AGCCTGGGCGACAGAGCGAGACTCCGTCTCAAAAA"

// A generator is the state of the task's linear congruential generator.
type generator uint32

const (
	modulus    = 139968
	multiplier = 3877
	increment  = 29573
)

// draw fills numbers with the states that follow.
func (g *generator) draw(numbers []uint32) {
	state := uint32(*g)
	for i := range numbers {
		state = (state*multiplier + increment) % modulus
		numbers[i] = state
	}
	*g = generator(state)
}

// A distribution says how likely each of up to 16 letters is.
type distribution struct {
	upTo    [16]float64 // cumulative probabilities, filled up with 1
	letters [16]byte
	few     bool // at most four letters
}

func newDistribution(letters string, probabilities ...float64) *distribution {
	d := &distribution{few: len(letters) <= 4}
	copy(d.letters[:], letters)
	sum := 0.0
	for i := range d.upTo {
		if i < len(probabilities) {
			sum += probabilities[i]
			d.upTo[i] = sum
		} else {
			d.upTo[i] = 1
		}
	}
	return d
}

// letter returns the first letter whose cumulative probability is at least p: a binary search, which turns the outcome
// of each comparison into a bit of the index.
func (d *distribution) letter(p float64) byte {
	i := below(d.upTo[7], p) << 3
	i += below(d.upTo[(i+3)&15], p) << 2
	i += below(d.upTo[(i+1)&15], p) << 1
	i += below(d.upTo[i&15], p)
	return d.letters[i&15]
}

// letterOfFew is letter for at most four letters.
func (d *distribution) letterOfFew(p float64) byte {
	i := below(d.upTo[1], p) << 1
	i += below(d.upTo[i&15], p)
	return d.letters[i&15]
}

// fill sets line to the letters that numbers stand for.
func (d *distribution) fill(line []byte, numbers []uint32) {
	line = line[:len(numbers)] // spares the check of each index
	if d.few {
		for i, number := range numbers {
			line[i] = d.letterOfFew(float64(number) / modulus)
		}
	} else {
		for i, number := range numbers {
			line[i] = d.letter(float64(number) / modulus)
		}
	}
}

// below returns 1 if a < b, otherwise 0: the sign of the difference.
func below(a, b float64) uint {
	return uint(math.Float64bits(a-b) >> 63)
}

// A block is a piece of the output on its way from the generator to the writer.
type block struct {
	numbers []uint32
	text    []byte
	ready   chan struct{} // receives when text is complete
}

// letters renders the block's numbers and a newline after every full or last line.
func (b *block) letters(d *distribution) {
	for rest := b.numbers; len(rest) > 0; {
		n := min(lineLength, len(rest))
		end := len(b.text)
		b.text = b.text[:end+n+1]
		line := b.text[end:]
		d.fill(line, rest[:n])
		line[n] = '\n'
		rest = rest[n:]
	}
	b.ready <- struct{}{}
}

// A pipeline holds the blocks: free ones, and those that wait for the writer.
type pipeline struct {
	free   chan *block
	queued chan *block
}

func newPipeline() *pipeline {
	blocks := 2*runtime.GOMAXPROCS(0) + 2
	p := &pipeline{make(chan *block, blocks), make(chan *block, blocks)}
	for range blocks {
		p.free <- &block{
			numbers: make([]uint32, blockLines*lineLength),
			text:    make([]byte, 0, blockLines*(lineLength+1)),
			ready:   make(chan struct{}, 1),
		}
	}
	return p
}

// write puts out blocks in the order of the queue until it is closed, and returns the first error.
func (p *pipeline) write(out io.Writer) error {
	var failure error
	for b := range p.queued {
		<-b.ready
		if failure == nil {
			_, failure = out.Write(b.text)
		}
		p.free <- b
	}
	return failure
}

// header queues a header line.
func (p *pipeline) header(line string) {
	b := <-p.free
	b.text = append(b.text[:0], line...)
	b.ready <- struct{}{}
	p.queued <- b
}

// repeat queues length letters of source over and over.
func (p *pipeline) repeat(source string, length int) {
	source += source[:lineLength] // so that no line has to wrap
	period := len(source) - lineLength
	for start := 0; length > 0; {
		b := <-p.free
		b.text = b.text[:0]
		for line := 0; line < blockLines && length > 0; line++ {
			n := min(lineLength, length)
			b.text = append(b.text, source[start:start+n]...)
			b.text = append(b.text, '\n')
			start = (start + n) % period
			length -= n
		}
		b.ready <- struct{}{}
		p.queued <- b
	}
}

// random queues length letters drawn from d.
func (p *pipeline) random(g *generator, d *distribution, length int) {
	for length > 0 {
		b := <-p.free
		b.text = b.text[:0]
		b.numbers = b.numbers[:min(length, blockLines*lineLength)]
		g.draw(b.numbers)
		go b.letters(d)
		p.queued <- b
		length -= len(b.numbers)
	}
}

func run() error {
	if len(os.Args) != 2 {
		return errors.New("usage: fasta N")
	}
	argument, err := strconv.ParseUint(os.Args[1], 10, 32)
	if err != nil {
		return err
	}
	n := int(argument)
	iub := newDistribution("acgtBDHKMNRSVWY",
		0.27, 0.12, 0.12, 0.27, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02)
	homoSapiens := newDistribution("acgt",
		0.3029549426680, 0.1979883004921, 0.1975473066391, 0.3015094502008)

	p := newPipeline()
	written := make(chan error)
	go func() { written <- p.write(os.Stdout) }()
	g := generator(42)
	p.header(">ONE Homo sapiens alu\n")
	p.repeat(alu, 2*n)
	p.header(">TWO IUB ambiguity codes\n")
	p.random(&g, iub, 3*n)
	p.header(">THREE Homo sapiens frequency\n")
	p.random(&g, homoSapiens, 5*n)
	close(p.queued)
	return <-written
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "fasta:", err)
		os.Exit(1)
	}
}
