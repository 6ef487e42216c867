// Binary-trees: allocate and walk very many perfect binary trees.
//
// Argument: the greatest depth. Output: for each kind of tree how many were built, how deep, and their nodes in total.
//
// Technique: the stretch tree, the long-lived tree and the trees of each depth are built by goroutines of their own,
// all at once; their results are printed in the order of the task.
//
// Rule of the task: every node, leaf or not, is an allocation of its own under the default collector; no arena, no pool,
// no free list, no tuning. Every tree is built whole, then counted by a walk over all its nodes.
package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
)

const minDepth = 4

// A node is the root of a tree; a leaf is a node without subtrees.
type node struct{ left, right *node }

func build(depth uint) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{build(depth - 1), build(depth - 1)}
}

func (n *node) count() int {
	if n.left == nil {
		return 1
	}
	// The right subtree was built last, so more of it is still in the cache.
	return 1 + n.right.count() + n.left.count()
}

// countTrees builds trees of one depth, one after another, and returns the number of their nodes.
func countTrees(trees int, depth uint) int {
	nodes := 0
	for range trees {
		nodes += build(depth).count()
	}
	return nodes
}

func run() error {
	if len(os.Args) != 2 {
		return errors.New("usage: binary-trees DEPTH")
	}
	// Five bits are plenty: a tree of depth 31 takes 64 GiB.
	depth, err := strconv.ParseUint(os.Args[1], 10, 5)
	if err != nil {
		return err
	}
	maxDepth := max(uint(depth), minDepth+2)

	var tasks sync.WaitGroup
	stretch := ""
	tasks.Go(func() {
		stretch = fmt.Sprintf("stretch tree of depth %d\t check: %d\n", maxDepth+1, build(maxDepth+1).count())
	})
	var longLived *node
	tasks.Go(func() {
		longLived = build(maxDepth)
	})
	byDepth := make([]string, (maxDepth-minDepth)/2+1)
	for i := range byDepth {
		tasks.Go(func() {
			depth := minDepth + 2*uint(i)
			trees := 1 << (maxDepth - depth + minDepth)
			byDepth[i] = fmt.Sprintf("%d\t trees of depth %d\t check: %d\n", trees, depth, countTrees(trees, depth))
		})
	}
	tasks.Wait()

	output := stretch
	for _, line := range byDepth {
		output += line
	}
	output += fmt.Sprintf("long lived tree of depth %d\t check: %d\n", maxDepth, longLived.count())
	_, err = os.Stdout.WriteString(output)
	return err
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "binary-trees:", err)
		os.Exit(1)
	}
}
