// K-nucleotide: count the short words (k-mers) of a DNA sequence.
//
// Input on stdin: FASTA text, of which sequence THREE is used. Output: the frequencies of all 1-mers and 2-mers, and how
// often five longer words occur.
//
// Technique: the reader cuts the sequence into blocks; workers, one a thread, take the next block as they become free
// and count its k-mers of all lengths into tables of their own, which are added up at the end. A k-mer is a number, two
// bits a letter, and moves on by a shift.
//
// Rule of the task: the input is read line by line; the tables are Go's own maps, and every single k-mer is looked up and
// counted in its table.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
)

const (
	longest   = 18      // letters of the longest k-mer
	blockSize = 1 << 18 // letters
)

// shortLengths are the k whose k-mers fit 32 bits; k = longest takes 64.
var shortLengths = [...]uint{1, 2, 3, 4, 6, 12}

// A block is a piece of the sequence. Its first letters repeat the end of the block before, up to one less than the
// longest k-mer, so that no k-mer is lost between blocks.
type block struct {
	letters  []byte
	repeated int
}

// readSequence sends the blocks of sequence THREE, then closes blocks.
func readSequence(in io.Reader, blocks chan<- block) error {
	defer close(blocks)
	lines := bufio.NewReaderSize(in, 1<<16)
	header, newline := []byte(">THREE"), []byte("\n")
	var line []byte
	var err error
	for !bytes.HasPrefix(line, header) {
		if line, err = lines.ReadSlice('\n'); err == io.EOF {
			return errors.New("no sequence THREE in the input")
		} else if err != nil {
			return err
		}
	}
	b := block{letters: make([]byte, 0, blockSize)}
	for err == nil {
		line, err = lines.ReadSlice('\n')
		line = bytes.TrimSuffix(line, newline)
		if len(line) > 0 && line[0] == '>' {
			break
		}
		if len(b.letters)+len(line) > blockSize {
			blocks <- b
			b = b.next()
		}
		b.letters = append(b.letters, line...)
	}
	blocks <- b
	if err == io.EOF {
		err = nil
	}
	return err
}

// next returns the block that follows a full one, with the repeated letters only.
func (b block) next() block {
	end := b.letters[len(b.letters)-(longest-1):]
	return block{append(make([]byte, 0, blockSize), end...), len(end)}
}

// tables hold the number of occurrences of every k-mer.
type tables struct {
	short [len(shortLengths)]map[uint32]uint32
	long  map[uint64]uint32
}

func newTables() *tables {
	t := &tables{long: map[uint64]uint32{}}
	for i := range t.short {
		t.short[i] = map[uint32]uint32{}
	}
	return t
}

// count counts the k-mers of all lengths in the blocks it receives.
func count(blocks <-chan block) *tables {
	t := newTables()
	for b := range blocks {
		for i, k := range shortLengths {
			countKmers(t.short[i], k, b)
		}
		countKmers(t.long, longest, b)
	}
	return t
}

// countKmers counts the k-mers of b except those that lie in its repeated letters.
func countKmers[K uint32 | uint64](table map[K]uint32, k uint, b block) {
	before := int(k) - 1 // letters before the first k-mer is complete
	letters := b.letters[max(b.repeated-before, 0):]
	if len(letters) <= before {
		return
	}
	kmer := K(0)
	for _, letter := range letters[:before] {
		kmer = kmer<<2 | K(code(letter))
	}
	mask := K(1)<<(2*k) - 1
	for _, letter := range letters[before:] {
		kmer = (kmer<<2 | K(code(letter))) & mask
		table[kmer]++
	}
}

// code returns 0, 1, 2, 3 for A, C, T, G of either case.
func code(letter byte) byte { return letter >> 1 & 3 }

func (t *tables) add(other *tables) {
	for i := range t.short {
		addTable(t.short[i], other.short[i])
	}
	addTable(t.long, other.long)
}

func addTable[K uint32 | uint64](to, from map[K]uint32) {
	for kmer, n := range from {
		to[kmer] += n
	}
}

// occurrences returns how often word occurs.
func (t *tables) occurrences(word string) uint32 {
	kmer := uint64(0)
	for _, letter := range []byte(word) {
		kmer = kmer<<2 | uint64(code(letter))
	}
	for i, k := range shortLengths {
		if uint(len(word)) == k {
			return t.short[i][uint32(kmer)]
		}
	}
	return t.long[kmer]
}

// A frequency is a k-mer as text and its number of occurrences.
type frequency struct {
	word  string
	count uint32
}

// frequencies returns the k-mers of table, the most frequent first, equals in alphabetical order, and their total.
func frequencies(table map[uint32]uint32, k uint) (list []frequency, total uint32) {
	for kmer, n := range table {
		word := make([]byte, k)
		for i := range word {
			word[i] = "ACTG"[kmer>>(2*(k-1-uint(i)))&3]
		}
		list = append(list, frequency{string(word), n})
		total += n
	}
	slices.SortFunc(list, func(a, b frequency) int {
		if a.count != b.count {
			return cmp.Compare(b.count, a.count)
		}
		return cmp.Compare(a.word, b.word)
	})
	return list, total
}

func run() error {
	workers := runtime.GOMAXPROCS(0)
	blocks := make(chan block, workers)
	results := make(chan *tables)
	for range workers {
		go func() { results <- count(blocks) }()
	}
	if err := readSequence(os.Stdin, blocks); err != nil {
		return err
	}
	total := <-results
	for range workers - 1 {
		total.add(<-results)
	}

	var output bytes.Buffer
	for i, k := range shortLengths[:2] {
		list, total := frequencies(total.short[i], k)
		for _, f := range list {
			fmt.Fprintf(&output, "%s %.3f\n", f.word, 100*float64(f.count)/float64(total))
		}
		fmt.Fprintln(&output)
	}
	for _, word := range []string{"GGT", "GGTA", "GGTATT", "GGTATTTTAATT", "GGTATTTTAATTTATAGT"} {
		fmt.Fprintf(&output, "%d\t%s\n", total.occurrences(word), word)
	}
	_, err := output.WriteTo(os.Stdout)
	return err
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "k-nucleotide:", err)
		os.Exit(1)
	}
}
