// Pidigits with math/big: write the first decimal digits of pi.
//
// Argument: N, the number of digits. Output: ten digits a line, and after them how many there are so far.
//
// Technique: the state of the spigot is three big integers; a few more take what comes in between. Every operation puts
// its result into one of them, and they grow by doubling, where math/big by itself would add four words at a time; so
// hardly a step allocates. That is also why a quotient is taken together with its remainder, which nobody needs: without
// a place for it, the division makes one. The small factors are big integers of one word, by which math/big multiplies
// in a single pass.
//
// Rule of the task: the streaming spigot step by step, a term of the series at a time, and each candidate for a digit
// computed twice, from 3 and from 4, by whole divisions; arithmetic of a library; one thread.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"math/big"
	"os"
	"strconv"
)

const digitsPerLine = 10

var three, four, ten = big.NewInt(3), big.NewInt(4), big.NewInt(10)

// A spigot stands for the digits of pi that have not been taken: the terms of the series used so far turn the unknown
// rest x of the series into (numerator·x + accumulator) / denominator.
type spigot struct {
	numerator, accumulator, denominator big.Int
	term                                int64

	factor, quotient, remainder, scratch big.Int
}

func newSpigot() *spigot {
	s := new(spigot)
	s.numerator.SetInt64(1)
	s.denominator.SetInt64(1)
	return s
}

// reserve doubles the room x has for its words if a step could fill it.
func reserve(x *big.Int) {
	const wordsPerStep = 4 // an operation may ask for one word more than it needs
	words := x.Bits()
	if len(words)+wordsPerStep <= cap(words) {
		return
	}
	roomy := new(big.Int).SetBits(make([]big.Word, 0, 2*(len(words)+wordsPerStep)))
	*x = *roomy.Set(x)
}

// consume takes in the next term.
func (s *spigot) consume() {
	for _, x := range []*big.Int{&s.numerator, &s.accumulator, &s.denominator, &s.scratch, &s.remainder} {
		reserve(x)
	}
	s.term++
	s.factor.SetInt64(2*s.term + 1)
	s.accumulator.Add(&s.accumulator, &s.numerator) // twice, so that 2·numerator needs no place
	s.accumulator.Add(&s.accumulator, &s.numerator)
	s.accumulator.Mul(&s.accumulator, &s.factor)
	s.denominator.Mul(&s.denominator, &s.factor)
	s.factor.SetInt64(s.term)
	s.numerator.Mul(&s.numerator, &s.factor)
}

// extract returns the digit that follows if the rest of the series is x.
func (s *spigot) extract(x *big.Int) int64 {
	s.scratch.Mul(&s.numerator, x)
	s.scratch.Add(&s.scratch, &s.accumulator)
	s.quotient.QuoRem(&s.scratch, &s.denominator, &s.remainder)
	return s.quotient.Int64()
}

// eliminate takes the digit out.
func (s *spigot) eliminate(digit int64) {
	s.factor.SetInt64(digit)
	s.scratch.Mul(&s.denominator, &s.factor)
	s.accumulator.Sub(&s.accumulator, &s.scratch)
	s.accumulator.Mul(&s.accumulator, ten)
	s.numerator.Mul(&s.numerator, ten)
}

// next returns the next digit: the rest of the series lies between 3 and 4, so the digit is known once both give it.
func (s *spigot) next() int64 {
	for {
		s.consume()
		if s.numerator.Cmp(&s.accumulator) > 0 {
			continue
		}
		digit := s.extract(three)
		if digit == s.extract(four) {
			s.eliminate(digit)
			return digit
		}
	}
}

func run() error {
	if len(os.Args) != 2 {
		return errors.New("usage: pidigits-math-big DIGITS")
	}
	argument, err := strconv.ParseUint(os.Args[1], 10, 31)
	if err != nil {
		return err
	}
	digits := int(argument)

	out := bufio.NewWriter(os.Stdout)
	s := newSpigot()
	line := make([]byte, 0, digitsPerLine)
	for i := 1; i <= digits; i++ {
		line = append(line, '0'+byte(s.next()))
		if len(line) == digitsPerLine || i == digits {
			fmt.Fprintf(out, "%-*s\t:%d\n", digitsPerLine, line, i)
			line = line[:0]
		}
	}
	return out.Flush()
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "pidigits-math-big:", err)
		os.Exit(1)
	}
}
