// Binary-trees from an arena: the work of binary-trees without the allocator and the collector.
//
// This program breaks the rule of the task on purpose, and is not one of its solutions. The rule wants an allocation
// for every node; here a tree's nodes lie in memory that is allocated once and used for one tree after another.
// Apart from that the trees are built and counted as binary-trees does it, node by node: what binary-trees takes longer
// is what Go's allocator and collector cost it.
//
// Argument: the greatest depth. Output: that of binary-trees.
//
// Technique: an arena is a slice of nodes, and a subtree is an index into it, so that the collector finds no pointer
// to follow in any tree and half the memory does. Workers, one for each CPU that Go may use, have an arena each and
// take trees from a common counter.
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
	minDepth   = 4
	maxDepth   = 29      // an int32 counts the nodes of the stretch tree, which is deeper by one
	batchNodes = 1 << 14 // about what a worker takes at a time
)

// A node is the root of a tree: the places of its subtrees in the arena. A leaf has 0 for both, the place of the whole
// tree's root, which is nobody's subtree.
type node struct{ left, right int32 }

// An arena holds one tree.
type arena struct {
	nodes []node
	used  int32
}

// newArena has room for a tree of a depth.
func newArena(depth uint) arena {
	return arena{nodes: make([]node, 1<<(depth+1)-1)}
}

// build adds a tree and returns the place of its root.
func (a *arena) build(depth uint) int32 {
	root := a.used
	a.used++
	if depth == 0 {
		a.nodes[root] = node{}
		return root
	}
	left := a.build(depth - 1)
	right := a.build(depth - 1)
	a.nodes[root] = node{left, right}
	return root
}

func (a *arena) count(root int32) int {
	n := a.nodes[root]
	if n.left == 0 {
		return 1
	}
	return 1 + a.count(n.left) + a.count(n.right)
}

// countTree builds a tree in place of the one before and returns the number of its nodes.
func (a *arena) countTree(depth uint) int {
	a.used = 0
	return a.count(a.build(depth))
}

// A worker changes its arena's header with every node. Headers lie side by side; without the space between them, some
// would share a cache line, and at every node a processor would wait for another to hand the line over. The space is
// two lines long, because processors fetch lines in pairs.
type worker struct {
	arena
	_ [128]byte
}

// A trial is all the trees but the stretch tree and the long-lived one. Its counters are changed once for many nodes,
// so that workers may share them.
type trial struct {
	// depth is the greatest.
	depth uint
	// taken counts the trees of each kind that workers have taken.
	taken []atomic.Int64
	// nodes counts the nodes of the trees of each kind that are done.
	nodes []atomic.Int64
}

func newTrial(depth uint) *trial {
	kinds := (depth-minDepth)/2 + 1
	return &trial{depth, make([]atomic.Int64, kinds), make([]atomic.Int64, kinds)}
}

func depthOf(kind int) uint {
	return minDepth + 2*uint(kind)
}

// trees returns how many there are of a kind.
func (t *trial) trees(kind int) int {
	return 1 << (t.depth - depthOf(kind) + minDepth)
}

// work builds trees, the deepest first, until all are taken.
func (t *trial) work(w *worker) {
	w.arena = newArena(t.depth)
	for kind := len(t.taken) - 1; kind >= 0; kind-- {
		depth, trees := depthOf(kind), t.trees(kind)
		batch := min(trees, max(1, batchNodes>>depth)) // divides trees, since all are powers of two
		for int(t.taken[kind].Add(int64(batch))) <= trees {
			nodes := 0
			for range batch {
				nodes += w.countTree(depth)
			}
			t.nodes[kind].Add(int64(nodes))
		}
	}
}

func run() error {
	if len(os.Args) != 2 {
		return errors.New("usage: binary-trees-arena DEPTH")
	}
	argument, err := strconv.ParseUint(os.Args[1], 10, 32)
	if err != nil {
		return err
	}
	if argument > maxDepth {
		return fmt.Errorf("the depth is %d, but can be %d at most", argument, maxDepth)
	}
	depth := max(uint(argument), minDepth+2)

	var tasks sync.WaitGroup
	stretchNodes := 0
	tasks.Go(func() {
		stretch := newArena(depth + 1)
		stretchNodes = stretch.countTree(depth + 1)
	})
	longLived := newArena(depth)
	tasks.Go(func() {
		longLived.build(depth)
	})
	t := newTrial(depth)
	workers := make([]worker, runtime.GOMAXPROCS(0))
	for i := range workers {
		tasks.Go(func() {
			t.work(&workers[i])
		})
	}
	tasks.Wait()

	output := fmt.Sprintf("stretch tree of depth %d\t check: %d\n", depth+1, stretchNodes)
	for kind := range t.taken {
		output += fmt.Sprintf("%d\t trees of depth %d\t check: %d\n",
			t.trees(kind), depthOf(kind), t.nodes[kind].Load())
	}
	output += fmt.Sprintf("long lived tree of depth %d\t check: %d\n", depth, longLived.count(0))
	_, err = os.Stdout.WriteString(output)
	return err
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "binary-trees-arena:", err)
		os.Exit(1)
	}
}
