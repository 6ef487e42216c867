// Spectral-norm: the spectral norm of an infinite matrix, from its first N rows and columns.
//
// Argument: N. Output: the norm, with nine decimals.
//
// Technique: the rows of each product are taken in blocks by workers, one for each CPU that Go may use, who all wait
// for each other before the next product begins. An entry of the matrix is one over an integer, so a row's sum is one
// division an entry, and nothing else in the loop takes as long as that.
//
// Rule of the task: the power method, ten times v = AᵀA u and u = AᵀA v; an entry of A, A times a vector, Aᵀ times a
// vector and AᵀA times a vector are four functions; every product computes every entry anew.
package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
)

const (
	powerSteps = 10
	blockRows  = 16
)

// inverseEntry returns one over the entry of A in row i and column j.
func inverseEntry(i, j int) float64 {
	return float64((i+j)*(i+j+1)/2 + i + 1)
}

// times sets product to A times v.
func times(product, v []float64) {
	inBlocks(len(product), func(start, end int) {
		for i := start; i < end; i++ {
			product[i] = rowTimes(i, v)
		}
	})
}

// rowTimes returns row i of A times v.
func rowTimes(i int, v []float64) float64 {
	sum := 0.0
	for j, x := range v {
		sum += x / inverseEntry(i, j)
	}
	return sum
}

// transposedTimes sets product to Aᵀ times v.
func transposedTimes(product, v []float64) {
	inBlocks(len(product), func(start, end int) {
		for i := start; i < end; i++ {
			product[i] = columnTimes(i, v)
		}
	})
}

// columnTimes returns column i of A times v.
func columnTimes(i int, v []float64) float64 {
	sum := 0.0
	for j, x := range v {
		sum += x / inverseEntry(j, i)
	}
	return sum
}

// bothTimes sets product to AᵀA times v, and between to A times v.
func bothTimes(product, v, between []float64) {
	times(between, v)
	transposedTimes(product, between)
}

// inBlocks calls work for blocks of rows that together are the first n, from several goroutines, and returns when all
// rows are done.
func inBlocks(n int, work func(start, end int)) {
	var taken atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for {
				end := int(taken.Add(blockRows))
				start := end - blockRows
				if start >= n {
					return
				}
				work(start, min(end, n))
			}
		})
	}
	workers.Wait()
}

func spectralNorm(n int) float64 {
	u := make([]float64, n)
	for i := range u {
		u[i] = 1
	}
	v := make([]float64, n)
	between := make([]float64, n)
	for range powerSteps {
		bothTimes(v, u, between)
		bothTimes(u, v, between)
	}
	uv, vv := 0.0, 0.0
	for i, x := range v {
		uv += u[i] * x
		vv += x * x
	}
	return math.Sqrt(uv / vv)
}

func run() error {
	if len(os.Args) != 2 {
		return errors.New("usage: spectral-norm N")
	}
	n, err := strconv.ParseUint(os.Args[1], 10, 24)
	if err != nil {
		return err
	}
	_, err = fmt.Printf("%0.9f\n", spectralNorm(int(n)))
	return err
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "spectral-norm:", err)
		os.Exit(1)
	}
}
