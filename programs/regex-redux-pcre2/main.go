// Regex-redux with PCRE2: match and replace patterns in DNA sequences.
//
// Input on stdin: FASTA text. Output: how often each of nine patterns occurs, and the length of the text as it was read,
// without headers and newlines, and after five replacements.
//
// Technique: the patterns are compiled to machine code by the JIT compiler of PCRE2, and matched by the function that
// runs it without further checks. The loops over the matches are Go: a call of a C function for each match, ten million
// of them, so that beside PCRE2 this shows what Go takes for such a call. As many goroutines as there are threads take
// the jobs one by one, first the replacements, which follow on one another and take longest, then the patterns to count.
// Headers and newlines are deleted in several parts of the text at once.
//
// Rule of the task: all of the input is read; each pattern is matched by itself, against the whole text, in the form the
// task gives it; each replacement goes over the whole result of the one before; a regular expression does all matching.
package main

/*
#cgo LDFLAGS: -lpcre2-8
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
*/
import "C"

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"unsafe"
)

// variants are the patterns to count.
var variants = []string{
	"agggtaaa|tttaccct",
	"[cgt]gggtaaa|tttaccc[acg]",
	"a[act]ggtaaa|tttacc[agt]t",
	"ag[act]gtaaa|tttac[agt]ct",
	"agg[act]taaa|ttta[agt]cct",
	"aggg[acg]aaa|ttt[cgt]ccct",
	"agggt[cgt]aa|tt[acg]accct",
	"agggta[cgt]a|t[acg]taccct",
	"agggtaa[cgt]|[acg]ttaccct",
}

// substitutions are to be made one after another.
var substitutions = []struct{ pattern, replacement string }{
	{"tHa[Nt]", "<4>"},
	{"aND|caN|Ha[DS]|WaS", "<3>"},
	{"a[NSt]|BY", "<2>"},
	{"<[^>]*>", "|"},
	{"\\|[^|][^|]*\\|", "-"},
}

// A searcher finds the matches of a pattern, one after another. It belongs to one goroutine.
type searcher struct {
	code  *C.pcre2_code_8
	data  *C.pcre2_match_data_8
	match *[2]C.size_t // in data: where the match found last begins and ends
}

func newSearcher(pattern string) *searcher {
	letters := []byte(pattern)
	var number C.int
	var offset C.size_t
	code := C.pcre2_compile_8((*C.PCRE2_UCHAR8)(&letters[0]), C.size_t(len(letters)), 0, &number, &offset, nil)
	if code == nil {
		fail(pattern, number)
	}
	if number = C.pcre2_jit_compile_8(code, C.PCRE2_JIT_COMPLETE); number != 0 {
		fail(pattern, number)
	}
	data := C.pcre2_match_data_create_8(1, nil)
	return &searcher{code, data, (*[2]C.size_t)(unsafe.Pointer(C.pcre2_get_ovector_pointer_8(data)))}
}

// close gives back the memory of C.
func (s *searcher) close() {
	C.pcre2_match_data_free_8(s.data)
	C.pcre2_code_free_8(s.code)
}

// next finds the first match in text that does not begin before from, and returns where it begins and ends.
func (s *searcher) next(text []byte, from int) (begin, end int, found bool) {
	if len(text) == 0 {
		return 0, 0, false
	}
	number := C.pcre2_jit_match_8(s.code, (*C.PCRE2_UCHAR8)(&text[0]), C.size_t(len(text)), C.size_t(from), 0, s.data, nil)
	if number == C.PCRE2_ERROR_NOMATCH {
		return 0, 0, false
	}
	if number < 0 {
		fail("match", number)
	}
	return int(s.match[0]), int(s.match[1]), true
}

// fail ends the program with PCRE2's text for an error.
func fail(what string, number C.int) {
	var message [256]byte
	C.pcre2_get_error_message_8(number, (*C.PCRE2_UCHAR8)(&message[0]), C.size_t(len(message)))
	fmt.Fprintf(os.Stderr, "regex-redux-pcre2: %s: %s\n", what, bytes.TrimRight(message[:], "\x00"))
	os.Exit(1)
}

// count sends the number of matches.
func count(pattern string, text []byte, result chan<- int) {
	s := newSearcher(pattern)
	defer s.close()
	n := 0
	for from := 0; ; n++ {
		_, end, found := s.next(text, from)
		if !found {
			break
		}
		from = end
	}
	result <- n
}

// replace appends text to out with every match replaced.
func replace(out, text []byte, pattern, replacement string) []byte {
	s := newSearcher(pattern)
	defer s.close()
	for from := 0; ; {
		begin, end, found := s.next(text, from)
		if !found {
			return append(out, text[from:]...)
		}
		out = append(out, text[from:begin]...)
		out = append(out, replacement...)
		from = end
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
	result <- replace(make([]byte, 0, len(text)), text, ">.*\n|\n", "")
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
		fmt.Fprintf(&output, "%s %d\n", variant, <-counts[i])
	}
	fmt.Fprintf(&output, "\n%d\n%d\n%d\n", len(input), len(text), <-substituted)
	_, err = output.WriteTo(os.Stdout)
	return err
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "regex-redux-pcre2:", err)
		os.Exit(1)
	}
}
