// N-body: the motion of the sun and the four outer planets under their mutual gravity.
//
// Argument: the number of steps of 0.01 days. Output: the energy of the system before and after them.
//
// Technique: the bodies are a fixed array, so every index is provably in range; the velocity of the outer body of a
// pair stays in registers while its partners pass by.
//
// Rule of the task: every step is the plain symplectic one. For each pair both velocities change by the pair's
// attraction, then every position moves by its new velocity; square root and division are the exact float64 ones.
package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
)

const (
	daysPerYear = 365.24
	solarMass   = 4 * math.Pi * math.Pi // in units where the gravitational constant is 1
	timeStep    = 0.01
)

// A body has its position in astronomical units, its velocity in astronomical units per year.
type body struct {
	x, y, z    float64
	vx, vy, vz float64
	mass       float64
}

type system [5]body

func newSystem() *system {
	s := &system{
		{ // the sun
			mass: solarMass,
		},
		{ // Jupiter
			4.84143144246472090e+00, -1.16032004402742839e+00, -1.03622044471123109e-01,
			1.66007664274403694e-03 * daysPerYear, 7.69901118419740425e-03 * daysPerYear, -6.90460016972063023e-05 * daysPerYear,
			9.54791938424326609e-04 * solarMass,
		},
		{ // Saturn
			8.34336671824457987e+00, 4.12479856412430479e+00, -4.03523417114321381e-01,
			-2.76742510726862411e-03 * daysPerYear, 4.99852801234917238e-03 * daysPerYear, 2.30417297573763929e-05 * daysPerYear,
			2.85885980666130812e-04 * solarMass,
		},
		{ // Uranus
			1.28943695621391310e+01, -1.51111514016986312e+01, -2.23307578892655734e-01,
			2.96460137564761618e-03 * daysPerYear, 2.37847173959480950e-03 * daysPerYear, -2.96589568540237556e-05 * daysPerYear,
			4.36624404335156298e-05 * solarMass,
		},
		{ // Neptune
			1.53796971148509165e+01, -2.59193146099879641e+01, 1.79258772950371181e-01,
			2.68067772490389322e-03 * daysPerYear, 1.62824170038242295e-03 * daysPerYear, -9.51592254519715870e-05 * daysPerYear,
			5.15138902046611451e-05 * solarMass,
		},
	}
	s.offsetMomentum()
	return s
}

// offsetMomentum gives the sun the velocity that makes the total momentum zero.
func (s *system) offsetMomentum() {
	var px, py, pz float64
	for i := range s {
		b := &s[i]
		px += b.vx * b.mass
		py += b.vy * b.mass
		pz += b.vz * b.mass
	}
	sun := &s[0]
	sun.vx, sun.vy, sun.vz = -px/solarMass, -py/solarMass, -pz/solarMass
}

func (s *system) energy() float64 {
	var e float64
	for i := range s {
		b := &s[i]
		e += 0.5 * b.mass * (b.vx*b.vx + b.vy*b.vy + b.vz*b.vz)
		for j := i + 1; j < len(s); j++ {
			c := &s[j]
			dx, dy, dz := b.x-c.x, b.y-c.y, b.z-c.z
			e -= b.mass * c.mass / math.Sqrt(dx*dx+dy*dy+dz*dz)
		}
	}
	return e
}

func (s *system) advance() {
	for i := 0; i < len(s)-1; i++ { // the last body has met all others by then
		b := &s[i]
		vx, vy, vz := b.vx, b.vy, b.vz
		for j := i + 1; j < len(s); j++ {
			c := &s[j]
			dx, dy, dz := b.x-c.x, b.y-c.y, b.z-c.z
			distanceSquared := dx*dx + dy*dy + dz*dz
			magnitude := timeStep / (distanceSquared * math.Sqrt(distanceSquared))
			pullOnB, pullOnC := c.mass*magnitude, b.mass*magnitude
			vx -= dx * pullOnB
			vy -= dy * pullOnB
			vz -= dz * pullOnB
			c.vx += dx * pullOnC
			c.vy += dy * pullOnC
			c.vz += dz * pullOnC
		}
		b.vx, b.vy, b.vz = vx, vy, vz
	}
	for i := range s {
		b := &s[i]
		b.x += timeStep * b.vx
		b.y += timeStep * b.vy
		b.z += timeStep * b.vz
	}
}

func run() error {
	if len(os.Args) != 2 {
		return errors.New("usage: n-body STEPS")
	}
	steps, err := strconv.ParseUint(os.Args[1], 10, 32)
	if err != nil {
		return err
	}
	s := newSystem()
	before := s.energy()
	for range steps {
		s.advance()
	}
	_, err = fmt.Printf("%.9f\n%.9f\n", before, s.energy())
	return err
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "n-body:", err)
		os.Exit(1)
	}
}
