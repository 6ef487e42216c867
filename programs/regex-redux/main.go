// Regex-redux with package regexp: match and replace patterns in DNA sequences.
//
// Input on stdin: FASTA text. Output: how often each of nine patterns occurs, and the length of the text as it was read,
// without headers and newlines, and after five replacements.
//
// Technique: as many goroutines as there are threads take the jobs one by one, first the replacements, which follow on
// one another and take longest, then the patterns to count. Where the longest match of a pattern is known, the text is
// searched a window at a time: package regexp has a matcher for short texts that is half as fast again as the one it
// takes for long ones. Windows overlap by one letter less than the longest match, and one that has no match makes the
// next twice as long. Headers and newlines are deleted from groups of lines, for the same reason, in several parts of
// the text at once.
//
// Rule of the task: all of the input is read; each pattern is matched by itself, against the whole text, in the form the
// task gives it; each replacement goes over the whole result of the one before; a regular expression does all matching.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
)

const (
	shortestWindow = 64
	longestWindow  = 1 << 12
)

// A pattern is a regular expression with the length of its longest match, 0 if there is no limit.
type pattern struct {
	expression string
	longest    int
}

// variants are the patterns to count.
var variants = []pattern{
	{"agggtaaa|tttaccct", 8},
	{"[cgt]gggtaaa|tttaccc[acg]", 8},
	{"a[act]ggtaaa|tttacc[agt]t", 8},
	{"ag[act]gtaaa|tttac[agt]ct", 8},
	{"agg[act]taaa|ttta[agt]cct", 8},
	{"aggg[acg]aaa|ttt[cgt]ccct", 8},
	{"agggt[cgt]aa|tt[acg]accct", 8},
	{"agggta[cgt]a|t[acg]taccct", 8},
	{"agggtaa[cgt]|[acg]ttaccct", 8},
}

// substitutions are to be made one after another.
var substitutions = []struct {
	pattern
	replacement string
}{
	{pattern{"tHa[Nt]", 4}, "<4>"},
	{pattern{"aND|caN|Ha[DS]|WaS", 3}, "<3>"},
	{pattern{"a[NSt]|BY", 2}, "<2>"},
	{pattern{"<[^>]*>", 0}, "|"},
	{pattern{"\\|[^|][^|]*\\|", 0}, "-"},
}

// A searcher finds the matches of a pattern, one after another.
type searcher struct {
	expression *regexp.Regexp
	longest    int
	window     int // length of the window to search next
}

func newSearcher(p pattern) *searcher {
	return &searcher{regexp.MustCompile(p.expression), p.longest, shortestWindow}
}

// next returns where the first match in text begins and ends, or found = false if there is none.
func (s *searcher) next(text []byte) (begin, end int, found bool) {
	if s.longest == 0 {
		match := s.expression.FindIndex(text)
		if match == nil {
			return 0, 0, false
		}
		return match[0], match[1], true
	}
	for from := 0; ; {
		to := min(from+s.window, len(text))
		if match := s.expression.FindIndex(text[from:to]); match != nil {
			s.window = shortestWindow
			return from + match[0], from + match[1], true
		}
		if to == len(text) {
			return 0, 0, false
		}
		s.window = min(2*s.window, longestWindow)
		from = to - (s.longest - 1)
	}
}

// count sends the number of matches.
func count(p pattern, text []byte, result chan<- int) {
	s := newSearcher(p)
	n := 0
	for {
		_, end, found := s.next(text)
		if !found {
			break
		}
		n++
		text = text[end:]
	}
	result <- n
}

// replace appends text to out with every match replaced.
func replace(out, text []byte, p pattern, replacement string) []byte {
	s := newSearcher(p)
	for {
		begin, end, found := s.next(text)
		if !found {
			return append(out, text...)
		}
		out = append(out, text[:begin]...)
		out = append(out, replacement...)
		text = text[end:]
	}
}

// substitute makes the substitutions and sends the length of what they leave.
func substitute(text []byte, result chan<- int) {
	out := make([]byte, 0, len(text))
	spare := make([]byte, 0, len(text))
	for _, s := range substitutions {
		out = replace(out[:0], text, s.pattern, s.replacement)
		text, out, spare = out, spare, out
	}
	result <- len(text)
}

// deleteLines sends text, which is whole lines, without headers and newlines.
func deleteLines(text []byte, result chan<- []byte) {
	expression := regexp.MustCompile(">.*\n|\n")
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		n := lineEnd(text, longestWindow)
		out = append(out, expression.ReplaceAllLiteral(text[:n], nil)...)
		text = text[n:]
	}
	result <- out
}

// lineEnd returns the end of the line in which the letter at i lies, or that of text.
func lineEnd(text []byte, i int) int {
	if i >= len(text) {
		return len(text)
	}
	n := bytes.IndexByte(text[i:], '\n')
	if n < 0 {
		return len(text)
	}
	return i + n + 1
}

// sequences returns the input without headers and newlines. No match reaches past the end of a line, so that several
// parts of the input are treated at once.
func sequences(input []byte, parallel int) []byte {
	parts := make([]chan []byte, parallel)
	rest := input
	for i := range parts {
		parts[i] = make(chan []byte, 1)
		n := lineEnd(rest, len(rest)/(parallel-i))
		go deleteLines(rest[:n], parts[i])
		rest = rest[n:]
	}
	text := make([]byte, 0, len(input))
	for _, part := range parts {
		text = append(text, <-part...)
	}
	return text
}

func run() error {
	input, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	threads := runtime.GOMAXPROCS(0)
	text := sequences(input, threads)

	jobs := make(chan func(), 1+len(variants))
	substituted := make(chan int, 1)
	jobs <- func() { substitute(text, substituted) }
	counts := make([]chan int, len(variants))
	for i, variant := range variants {
		result := make(chan int, 1)
		counts[i] = result
		jobs <- func() { count(variant, text, result) }
	}
	close(jobs)
	for range threads {
		go func() {
			for job := range jobs {
				job()
			}
		}()
	}

	var output bytes.Buffer
	for i, variant := range variants {
		fmt.Fprintf(&output, "%s %d\n", variant.expression, <-counts[i])
	}
	fmt.Fprintf(&output, "\n%d\n%d\n%d\n", len(input), len(text), <-substituted)
	_, err = output.WriteTo(os.Stdout)
	return err
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "regex-redux:", err)
		os.Exit(1)
	}
}
