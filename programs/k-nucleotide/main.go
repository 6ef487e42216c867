// K-nucleotide: count the short words (k-mers) of a DNA sequence.
//
// Input on stdin: FASTA text, of which sequence THREE is used. Output: the frequencies of all 1-mers and 2-mers, and how
// often five longer words occur.
//
// Technique: the sequence is packed, two bits a letter, into words that overlap, so that any k-mer is cut out of one word.
// Of n workers, one a thread, each counts the k-mers that begin at every n-th letter, into tables of its own, which are
// added up at the end. A worker goes through the whole sequence for one k and then for the next: that way one table
// fills the cache, not seven. And since the random letters repeat themselves, a worker that takes every n-th place meets
// fewer different k-mers than one that takes all places of a part, so its tables are smaller.
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
	longest    = 18      // letters of the longest k-mer
	step       = 8       // letters from the start of one word to that of the next
	wordLength = 32      // letters of a word
	blockWords = 1 << 16 // words of a block
)

// shortLengths are the k whose k-mers fit 32 bits; k = longest takes 64.
var shortLengths = [...]uint{1, 2, 3, 4, 6, 12}

// A sequence is DNA as overlapping words: a word has 32 letters of two bits, the first one on top, and begins eight
// letters after the one before it. So any k-mer lies within the word in whose first eight letters it begins.
type sequence struct {
	blocks [][]uint64 // all full but the last; a list, so that nothing is copied when it grows
	length int        // letters
	recent uint64     // the last letters
}

// append adds letters.
func (s *sequence) append(letters []byte) {
	for _, letter := range letters {
		s.recent = s.recent<<2 | uint64(code(letter))
		s.length++
		if s.length%step == 0 && s.length >= wordLength {
			s.addWord(s.recent)
		}
	}
}

func (s *sequence) addWord(word uint64) {
	last := len(s.blocks) - 1
	if last < 0 || len(s.blocks[last]) == blockWords {
		s.blocks = append(s.blocks, make([]uint64, 0, blockWords))
		last++
	}
	s.blocks[last] = append(s.blocks[last], word)
}

// finish adds the words that the sequence does not fill.
func (s *sequence) finish() {
	length := s.length
	var filler [wordLength]byte
	s.append(filler[:])
	s.length = length
}

// readSequence returns sequence THREE.
func readSequence(in io.Reader) (*sequence, error) {
	lines := bufio.NewReaderSize(in, 1<<16)
	header, newline := []byte(">THREE"), []byte("\n")
	var line []byte
	var err error
	for !bytes.HasPrefix(line, header) {
		if line, err = lines.ReadSlice('\n'); err == io.EOF {
			return nil, errors.New("no sequence THREE in the input")
		} else if err != nil {
			return nil, err
		}
	}
	s := new(sequence)
	for err == nil {
		line, err = lines.ReadSlice('\n')
		if len(line) > 0 && line[0] == '>' {
			break
		}
		s.append(bytes.TrimSuffix(line, newline))
	}
	if err != nil && err != io.EOF {
		return nil, err
	}
	s.finish()
	return s, nil
}

// tables hold the number of occurrences of every k-mer.
type tables struct {
	short [len(shortLengths)]map[uint32]uint32
	long  map[uint64]uint32
}

// count counts the k-mers of all lengths that begin at every stride-th letter, from the one at first.
func count(s *sequence, first, stride int) *tables {
	t := new(tables)
	for i, k := range shortLengths {
		t.short[i] = countKmers[uint32](s, k, first, stride)
	}
	t.long = countKmers[uint64](s, longest, first, stride)
	return t
}

func countKmers[K uint32 | uint64](s *sequence, k uint, first, stride int) map[K]uint32 {
	table := map[K]uint32{}
	mask := K(1)<<(2*k) - 1
	begin := first                // of the next k-mer, from the start of the block
	left := s.length - int(k) + 1 // places from the start of the block on where a k-mer begins
	for _, words := range s.blocks {
		end := min(left, len(words)*step)
		for begin < end {
			shift := 2 * (wordLength - k - uint(begin)%step)
			kmer := K(words[begin/step]>>(shift%64)) & mask
			table[kmer]++
			begin += stride
		}
		begin -= len(words) * step
		left -= len(words) * step
	}
	return table
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
	s, err := readSequence(os.Stdin)
	if err != nil {
		return err
	}
	workers := runtime.GOMAXPROCS(0)
	results := make(chan *tables)
	for i := range workers {
		go func() { results <- count(s, i, workers) }()
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
	_, err = output.WriteTo(os.Stdout)
	return err
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "k-nucleotide:", err)
		os.Exit(1)
	}
}
