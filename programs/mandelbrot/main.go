// Mandelbrot: a picture of the Mandelbrot set between -1.5-i and 0.5+i.
//
// Argument: N, the width and height in pixels. Output: a bitmap in the binary PBM format, one for the set.
//
// Technique: the values of four pixels are iterated side by side. An iteration of one pixel is a chain of operations
// each of which waits for the one before; four chains keep the processor busy, and their values just fit in its
// registers. Escape is looked for once in seven iterations. Workers, one for each CPU that Go may use, take rows from a
// common counter.
//
// Rule of the task: every pixel is iterated for itself, up to 50 times, and is outside the set once |z|² exceeds 4; no
// use is made of symmetry or of areas known to be inside.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
)

const (
	iterations = 50
	testEvery  = 7 // divides iterations-1, since the first value is c itself
)

// fourInSet returns a bit for each of four neighbours, the first in the highest of four bits: whether its value stays
// within the limit. Their c have the real parts reals and the imaginary part imaginary.
//
// A test at every iteration would give the same. In this picture |c| < 2, so from |z| > 2 follows |z²+c| > |z|: a value
// that has escaped grows until it is infinite, and then not a number, neither of which is within the limit.
func fourInSet(reals []float64, imaginary float64) byte {
	c0, c1, c2, c3 := reals[0], reals[1], reals[2], reals[3]
	r0, r1, r2, r3 := c0, c1, c2, c3
	i0, i1, i2, i3 := imaginary, imaginary, imaginary, imaginary
	for n := 1; n < iterations; n += testEvery {
		for range testEvery {
			ri0 := times(r0, i0)
			r0 = times(r0, r0) - times(i0, i0) + c0
			i0 = ri0 + ri0 + imaginary
			ri1 := times(r1, i1)
			r1 = times(r1, r1) - times(i1, i1) + c1
			i1 = ri1 + ri1 + imaginary
			ri2 := times(r2, i2)
			r2 = times(r2, r2) - times(i2, i2) + c2
			i2 = ri2 + ri2 + imaginary
			ri3 := times(r3, i3)
			r3 = times(r3, r3) - times(i3, i3) + c3
			i3 = ri3 + ri3 + imaginary
		}
		if !within(r0, i0) && !within(r1, i1) && !within(r2, i2) && !within(r3, i3) {
			return 0
		}
	}
	var inSet byte
	if within(r0, i0) {
		inSet |= 8
	}
	if within(r1, i1) {
		inSet |= 4
	}
	if within(r2, i2) {
		inSet |= 2
	}
	if within(r3, i3) {
		inSet |= 1
	}
	return inSet
}

// within reports whether z = r+i has not escaped.
func within(r, i float64) bool {
	return times(r, r)+times(i, i) <= 4
}

// times rounds the product, which the conversion demands: were it fused with an addition, as some processors can, the
// picture would differ from one to the next.
func times(x, y float64) float64 {
	return float64(x * y)
}

// A picture has one bit a pixel, eight pixels a byte; a row begins with a byte of its own.
type picture struct {
	size     int
	rowBytes int
	bits     []byte
	reals    []float64 // the real part of c for each column, and for those that fill the last byte
}

func newPicture(size int) *picture {
	p := &picture{size: size, rowBytes: (size + 7) / 8}
	p.bits = make([]byte, size*p.rowBytes)
	p.reals = make([]float64, 8*p.rowBytes)
	for x := range p.reals {
		p.reals[x] = 2*float64(x)/float64(size) - 1.5
	}
	return p
}

func (p *picture) drawRow(y int) {
	imaginary := 2*float64(y)/float64(p.size) - 1
	row := p.bits[y*p.rowBytes:][:p.rowBytes]
	for i := range row {
		reals := p.reals[8*i:][:8]
		row[i] = fourInSet(reals[:4], imaginary)<<4 | fourInSet(reals[4:], imaginary)
	}
	if beyond := uint(8*p.rowBytes - p.size); beyond > 0 {
		row[len(row)-1] &= 0xff << beyond
	}
}

func (p *picture) draw() {
	var rows atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for {
				y := int(rows.Add(1)) - 1
				if y >= p.size {
					return
				}
				p.drawRow(y)
			}
		})
	}
	workers.Wait()
}

func run() error {
	if len(os.Args) != 2 {
		return errors.New("usage: mandelbrot N")
	}
	size, err := strconv.ParseUint(os.Args[1], 10, 16)
	if err != nil {
		return err
	}
	p := newPicture(int(size))
	p.draw()
	if _, err := fmt.Printf("P4\n%d %d\n", p.size, p.size); err != nil {
		return err
	}
	_, err = os.Stdout.Write(p.bits)
	return err
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "mandelbrot:", err)
		os.Exit(1)
	}
}
