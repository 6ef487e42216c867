// Fannkuch-redux: how often the head of a permutation can be reversed before its first element is 1.
//
// Argument: N, the number of elements, from 2 to 16. Output: the checksum over all N! permutations, then the most
// flips that one of them takes.
//
// Technique: a permutation is one 64-bit word, four bits an element, and a second word has the same elements back to
// front. With both at hand a flip of any length is seven operations in registers, without a loop and so without a
// branch that the processor would guess wrong; all that it cannot foresee is where the flips of a permutation end.
// Permutations are made in batches before their flips are counted, so that the branches of either part do not spoil
// the prediction of the other. Workers, one for each CPU that Go may use, take chunks of the permutations from a
// common counter.
//
// Rule of the task: all N! permutations in the prescribed order, each made from the one before (a chunk's first from
// its index), each flipped one flip after another until its first element is 1; a flip counts positively for
// permutations of even index, negatively for odd.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
)

const (
	minElements = 2
	maxElements = 16 // 64 bits hold no more
	batchLength = 240
)

// A permutation has its elements in the four-bit digits of both words: the first element is the lowest digit of
// forward and the highest of backward. Element e, from 0, is the digit 15-e, which is a quarter of 64 less the bits that
// the first e+1 elements take, and so of the distance between their places in the two words.
//
// Every permutation has 16 elements; those from the Nth on keep their places.
type permutation struct{ forward, backward uint64 }

func newPermutation(elements *[maxElements]uint) permutation {
	var p permutation
	for _, e := range elements {
		digit := uint64(maxElements - 1 - e)
		p.forward = p.forward>>4 | digit<<60
		p.backward = p.backward<<4 | digit
	}
	return p
}

// flips returns how many flips it takes until the first element is 0.
//
// A flip changes each place of the head by what its element and the one opposite differ in. The differences read the
// same in both directions, so they are found once and applied to both words.
func (p permutation) flips() int {
	n := 0
	forward, backward := p.forward, p.backward
	for {
		distance := forward << 2 & 63
		differences := (forward<<distance ^ backward) >> distance
		if differences == 0 { // the head is one element: 0
			return n
		}
		forward ^= differences
		backward ^= differences << distance
		n++
	}
}

// A sequence makes permutations in the prescribed order. All permutations of the first k elements are made before the
// first k+1 elements are rotated by one place to the left; rotated k+1 times they are as they were.
type sequence struct {
	next      permutation      // of an even index
	rotations [maxElements]int // rotations[k] counts those of the first k+1 elements
}

// newSequence starts at a permutation's index, an even number.
func newSequence(n, index int) *sequence {
	s := &sequence{}
	var elements [maxElements]uint
	for i := range elements {
		elements[i] = uint(i)
	}
	for k := n - 1; k > 0; k-- {
		below := factorial(k)
		turns := index / below
		index %= below
		s.rotations[k] = turns
		var rotated [maxElements]uint
		copy(rotated[:], elements[turns:k+1])
		copy(rotated[k+1-turns:], elements[:turns])
		copy(elements[:k+1], rotated[:])
	}
	s.next = newPermutation(&elements)
	return s
}

// fill sets batch, of even length, to the permutations that follow.
func (s *sequence) fill(batch []permutation) {
	forward, backward := s.next.forward, s.next.backward
	for len(batch) >= 2 {
		batch[0] = permutation{forward, backward}
		// A permutation of odd index is the one before with the first two elements exchanged.
		difference := (forward ^ forward>>4) & 15
		difference |= difference << 4
		batch[1] = permutation{forward ^ difference, backward ^ difference<<56}
		batch = batch[2:]

		for k := uint(2); k < maxElements; k++ {
			last := 4 * k // the place in forward of the last of the rotated elements; in backward it is opposite
			first := forward & 15
			rotated := ^uint64(0) >> (60 - last)
			forward = forward&^rotated | forward&rotated>>4 | first<<last
			last = 60 - last
			backward = backward&(1<<last-1) | backward>>last<<last<<4 | first<<last
			s.rotations[k&15]++
			if s.rotations[k&15] <= int(k) {
				break
			}
			s.rotations[k&15] = 0
		}
	}
	s.next = permutation{forward, backward}
}

// A tally is what was found for some of the permutations.
type tally struct{ checksum, maxFlips int }

func (t *tally) add(other tally) {
	t.checksum += other.checksum
	if t.maxFlips < other.maxFlips {
		t.maxFlips = other.maxFlips
	}
}

// count returns the tally of a batch that starts at an even index.
func count(batch []permutation) tally {
	checksum, maxFlips := 0, 0
	for _, p := range batch {
		n := p.flips()
		if maxFlips < n {
			maxFlips = n
		}
		checksum = n - checksum // changes the sign of all before
	}
	return tally{-checksum, maxFlips}
}

// countChunk returns the tally of the permutations from index start to before end.
func countChunk(n, start, end int) tally {
	var t tally
	var batch [batchLength]permutation
	s := newSequence(n, start)
	for ; start < end; start += batchLength {
		b := batch[:min(batchLength, end-start)]
		s.fill(b)
		t.add(count(b))
	}
	return t
}

// countAll returns the tally of all permutations of n elements.
func countAll(n int) tally {
	permutations := factorial(n)
	// A chunk is what has the same last three elements; an even number.
	chunk := max(2, factorial(max(0, n-3)))
	var taken atomic.Int64
	workers := runtime.GOMAXPROCS(0)
	tallies := make(chan tally)
	for range workers {
		go func() {
			var t tally
			for {
				end := int(taken.Add(int64(chunk)))
				if end > permutations {
					break
				}
				t.add(countChunk(n, end-chunk, end))
			}
			tallies <- t
		}()
	}
	var t tally
	for range workers {
		t.add(<-tallies)
	}
	return t
}

func factorial(n int) int {
	f := 1
	for i := 2; i <= n; i++ {
		f *= i
	}
	return f
}

func run() error {
	if len(os.Args) != 2 {
		return errors.New("usage: fannkuch-redux N")
	}
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		return err
	}
	if n < minElements || n > maxElements {
		return fmt.Errorf("N is %d, but must be from %d to %d", n, minElements, maxElements)
	}
	t := countAll(n)
	_, err = fmt.Printf("%d\nPfannkuchen(%d) = %d\n", t.checksum, n, t.maxFlips)
	return err
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "fannkuch-redux:", err)
		os.Exit(1)
	}
}
