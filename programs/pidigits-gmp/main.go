// Pidigits with GMP: write the first decimal digits of pi.
//
// Argument: N, the number of digits. Output: ten digits a line, and after them how many there are so far.
//
// Technique: the state of the spigot is three integers of GMP, changed where they are, and two more take what comes in
// between. The spigot itself is Go: each operation on an integer is one call of a C function, ten and more of them for a
// term, so that beside GMP this shows what Go takes for such a call. The integers lie in memory of C, which spares Go the
// check that what it hands over holds no pointers of its own.
//
// Rule of the task: the streaming spigot step by step, a term of the series at a time, and each candidate for a digit
// computed twice, from 3 and from 4, by whole divisions; arithmetic of a library; one thread.
package main

/*
#cgo LDFLAGS: -lgmp
#include <gmp.h>
#include <stdlib.h>
*/
import "C"

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
)

const digitsPerLine = 10

// newInteger returns an integer in memory of C, which is never freed: the few there are live as long as the program.
func newInteger(value uint) *C.__mpz_struct {
	x := (*C.__mpz_struct)(C.malloc(C.sizeof___mpz_struct))
	C.mpz_init_set_ui(x, C.ulong(value))
	return x
}

// A spigot stands for the digits of pi that have not been taken: the terms of the series used so far turn the unknown
// rest x of the series into (numerator·x + accumulator) / denominator.
type spigot struct {
	numerator, accumulator, denominator *C.__mpz_struct
	term                                uint

	dividend, quotient *C.__mpz_struct
}

func newSpigot() *spigot {
	return &spigot{
		numerator:   newInteger(1),
		accumulator: newInteger(0),
		denominator: newInteger(1),
		dividend:    newInteger(0),
		quotient:    newInteger(0),
	}
}

// consume takes in the next term.
func (s *spigot) consume() {
	s.term++
	odd := C.ulong(2*s.term + 1)
	C.mpz_addmul_ui(s.accumulator, s.numerator, 2)
	C.mpz_mul_ui(s.accumulator, s.accumulator, odd)
	C.mpz_mul_ui(s.denominator, s.denominator, odd)
	C.mpz_mul_ui(s.numerator, s.numerator, C.ulong(s.term))
}

// extract returns the digit that follows if the rest of the series is x.
func (s *spigot) extract(x uint) uint {
	C.mpz_set(s.dividend, s.accumulator)
	C.mpz_addmul_ui(s.dividend, s.numerator, C.ulong(x))
	C.mpz_tdiv_q(s.quotient, s.dividend, s.denominator)
	return uint(C.mpz_get_ui(s.quotient))
}

// eliminate takes the digit out.
func (s *spigot) eliminate(digit uint) {
	C.mpz_submul_ui(s.accumulator, s.denominator, C.ulong(digit))
	C.mpz_mul_ui(s.accumulator, s.accumulator, 10)
	C.mpz_mul_ui(s.numerator, s.numerator, 10)
}

// next returns the next digit: the rest of the series lies between 3 and 4, so the digit is known once both give it.
func (s *spigot) next() uint {
	for {
		s.consume()
		if C.mpz_cmp(s.numerator, s.accumulator) > 0 {
			continue
		}
		digit := s.extract(3)
		if digit == s.extract(4) {
			s.eliminate(digit)
			return digit
		}
	}
}

func run() error {
	if len(os.Args) != 2 {
		return errors.New("usage: pidigits-gmp DIGITS")
	}
	argument, err := strconv.ParseUint(os.Args[1], 10, 31)
	if err != nil {
		return err
	}
	digits := int(argument)

	runtime.LockOSThread()
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
		fmt.Fprintln(os.Stderr, "pidigits-gmp:", err)
		os.Exit(1)
	}
}
