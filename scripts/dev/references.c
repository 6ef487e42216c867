/* Expected outputs of three tasks, computed otherwise than the programs under test do: fannkuch-redux by
 * recursion, without an index; n-body and spectral-norm in 80-bit floating point and in another order of
 * operations. Used by scripts/dev/references. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef long double real;

/* fannkuch-redux: a permutation's sign is which of the last two rotations it came from. */

static long long checksum;
static int most_flips;

static int flips_of(const signed char *permutation)
{
    signed char p[16];
    int flips = 0;
    memcpy(p, permutation, sizeof p);
    for (; p[0] != 0; flips++)
        for (int left = 0, right = p[0]; left < right; left++, right--) {
            signed char swapped = p[left];
            p[left] = p[right];
            p[right] = swapped;
        }
    return flips;
}

static void rotate_all(const signed char *permutation, int last, int sign)
{
    if (last == 0) {
        int flips = flips_of(permutation);
        if (flips > most_flips)
            most_flips = flips;
        checksum += sign * flips;
        return;
    }
    signed char p[16];
    memcpy(p, permutation, sizeof p);
    for (int rotation = 0; rotation <= last; rotation++) {
        rotate_all(p, last - 1, last == 1 && rotation == 1 ? -1 : sign);
        signed char first = p[0];
        memmove(p, p + 1, last);
        p[last] = first;
    }
}

static void fannkuch_redux(int n)
{
    signed char p[16];
    for (int i = 0; i < 16; i++)
        p[i] = i;
    rotate_all(p, n - 1, 1);
    printf("%lld\nPfannkuchen(%d) = %d\n", checksum, n, most_flips);
}

/* n-body: all accelerations are summed first, pairs from the last to the first, then everything moves. */

enum { BODIES = 5 };
#define SOLAR_MASS (4 * 3.141592653589793L * 3.141592653589793L)
#define YEAR 365.24L

static struct body {
    real place[3], speed[3], mass;
} bodies[BODIES] = {
    {{0, 0, 0}, {0, 0, 0}, 1},
    {{4.84143144246472090e+00L, -1.16032004402742839e+00L, -1.03622044471123109e-01L},
     {1.66007664274403694e-03L, 7.69901118419740425e-03L, -6.90460016972063023e-05L},
     9.54791938424326609e-04L},
    {{8.34336671824457987e+00L, 4.12479856412430479e+00L, -4.03523417114321381e-01L},
     {-2.76742510726862411e-03L, 4.99852801234917238e-03L, 2.30417297573763929e-05L},
     2.85885980666130812e-04L},
    {{1.28943695621391310e+01L, -1.51111514016986312e+01L, -2.23307578892655734e-01L},
     {2.96460137564761618e-03L, 2.37847173959480950e-03L, -2.96589568540237556e-05L},
     4.36624404335156298e-05L},
    {{1.53796971148509165e+01L, -2.59193146099879641e+01L, 1.79258772950371181e-01L},
     {2.68067772490389322e-03L, 1.62824170038242295e-03L, -9.51592254519715870e-05L},
     5.15138902046611451e-05L},
};

static real energy(void)
{
    real sum = 0;
    for (int i = BODIES - 1; i >= 0; i--) {
        const struct body *b = &bodies[i];
        real speed2 = 0;
        for (int d = 0; d < 3; d++)
            speed2 += b->speed[d] * b->speed[d];
        sum += b->mass * speed2 / 2;
        for (int j = 0; j < i; j++) {
            real distance2 = 0;
            for (int d = 0; d < 3; d++)
                distance2 += powl(b->place[d] - bodies[j].place[d], 2);
            sum -= b->mass * bodies[j].mass / sqrtl(distance2);
        }
    }
    return sum;
}

static void step(real dt)
{
    real pull[BODIES][3] = {{0}};
    for (int i = BODIES - 1; i >= 0; i--)
        for (int j = i - 1; j >= 0; j--) {
            real apart[3], distance2 = 0;
            for (int d = 0; d < 3; d++) {
                apart[d] = bodies[j].place[d] - bodies[i].place[d];
                distance2 += apart[d] * apart[d];
            }
            real cube = distance2 * sqrtl(distance2);
            for (int d = 0; d < 3; d++) {
                pull[i][d] += bodies[j].mass * apart[d] / cube;
                pull[j][d] -= bodies[i].mass * apart[d] / cube;
            }
        }
    for (int i = 0; i < BODIES; i++)
        for (int d = 0; d < 3; d++) {
            bodies[i].speed[d] += pull[i][d] * dt;
            bodies[i].place[d] += bodies[i].speed[d] * dt;
        }
}

static void n_body(long steps)
{
    for (int i = 0; i < BODIES; i++) {
        bodies[i].mass *= SOLAR_MASS;
        for (int d = 0; d < 3; d++) {
            bodies[i].speed[d] *= YEAR;
            if (i > 0)
                bodies[0].speed[d] -= bodies[i].speed[d] * bodies[i].mass / SOLAR_MASS;
        }
    }
    printf("%.9Lf\n", energy());
    while (steps-- > 0)
        step(0.01L);
    printf("%.9Lf\n", energy());
}

/* spectral-norm: each column, times its element of the vector, is added to the result, from the last on. */

static void add_columns(int n, const real *x, real *y, int transposed)
{
    for (int i = 0; i < n; i++)
        y[i] = 0;
    for (long j = n - 1; j >= 0; j--)
        for (long i = 0; i < n; i++)
            y[i] += x[j] / ((i + j) * (i + j + 1) / 2 + (transposed ? j : i) + 1);
}

static void spectral_norm(int n)
{
    real *u = calloc(n, sizeof *u), *v = calloc(n, sizeof *v), *between = calloc(n, sizeof *between);
    real uv = 0, vv = 0;
    for (int i = 0; i < n; i++)
        u[i] = 1;
    for (int k = 0; k < 10; k++) {
        add_columns(n, u, between, 0);
        add_columns(n, between, v, 1);
        add_columns(n, v, between, 0);
        add_columns(n, between, u, 1);
    }
    for (int i = n - 1; i >= 0; i--) {
        uv += u[i] * v[i];
        vv += v[i] * v[i];
    }
    printf("%.9Lf\n", sqrtl(uv / vv));
}

int main(int count, char **arguments)
{
    if (count != 3) {
        fprintf(stderr, "usage: references TASK N\n");
        return 2;
    }
    long n = atol(arguments[2]);
    if (strcmp(arguments[1], "fannkuch-redux") == 0)
        fannkuch_redux(n);
    else if (strcmp(arguments[1], "n-body") == 0)
        n_body(n);
    else if (strcmp(arguments[1], "spectral-norm") == 0)
        spectral_norm(n);
    else
        return 2;
}
