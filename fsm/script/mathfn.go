package script

import "math"

// Transcendental functions of our own, after FreeBSD's msun: package math uses
// assembly on some processors and may be improved in any release, and replicas
// must agree to the last bit. Every product is rounded before it is added to
// anything, because Go may otherwise fuse the two on some processors.

const (
	ln2Hi = 6.93147180369123816490e-01
	ln2Lo = 1.90821492927058770002e-10
	log2e = 1.44269504088896338700e+00
)

// horner is c[0] + x*(c[1] + x*(c[2] + ...)).
func horner(x float64, c ...float64) float64 {
	sum := 0.0
	for i := len(c) - 1; i >= 0; i-- {
		sum = float64(sum*x) + c[i]
	}
	return sum
}

func exp(x float64) float64 {
	switch {
	case x != x || math.IsInf(x, 1):
		return x
	case x > 709.782712893384:
		return math.Inf(1)
	case x < -745.1332191019411:
		return 0
	}
	k := math.Floor(float64(log2e*x) + 0.5)
	hi := x - float64(k*ln2Hi)
	lo := float64(k * ln2Lo)
	r := hi - lo
	t := float64(r * r)
	c := r - float64(t*horner(t, 1.66666666666666657415e-01, -2.77777777770155933842e-03,
		6.61375632143793436117e-05, -1.65339022054652515390e-06, 4.13813679705723846039e-08))
	y := 1 - ((lo - float64(r*c)/(2-c)) - hi)
	return math.Ldexp(y, int(k))
}

func log(x float64) float64 {
	switch {
	case x != x || math.IsInf(x, 1):
		return x
	case x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	}
	f1, ki := math.Frexp(x)
	if f1 < math.Sqrt2/2 {
		f1 *= 2
		ki--
	}
	f, k := f1-1, float64(ki)
	s := f / (2 + f)
	s2 := float64(s * s)
	s4 := float64(s2 * s2)
	t1 := float64(s2 * horner(s4, 6.666666666666735130e-01, 2.857142874366239149e-01,
		1.818357216161805012e-01, 1.479819860511658591e-01))
	t2 := float64(s4 * horner(s4, 3.999999999940941908e-01, 2.222219843214978396e-01,
		1.531383769920937332e-01))
	r := t1 + t2
	hfsq := float64(0.5 * float64(f*f))
	return float64(k*ln2Hi) - ((hfsq - (float64(s*(hfsq+r)) + float64(k*ln2Lo))) - f)
}

// log10 is exact for powers of ten.
func log10(x float64) float64 {
	r := log(x) / math.Ln10
	if n := math.Floor(r + 0.5); math.Abs(n) < 308 && pow(10, n) == x {
		return n
	}
	return r
}

// pow multiplies for the whole part of the exponent, which is exact as long as the
// result is, and goes through exp and log for the rest.
func pow(x, y float64) float64 {
	if r, ok := powSpecial(x, y); ok {
		return r
	}
	whole := math.Trunc(math.Abs(y))
	frac := math.Abs(y) - whole
	a, ae := 1.0, 0
	if frac != 0 {
		if frac > 0.5 {
			frac--
			whole++
		}
		a = exp(float64(frac * log(x)))
	}
	if whole >= 1<<62 {
		return powHuge(x, y)
	}
	base, be := math.Frexp(x)
	for i := int64(whole); i != 0; i >>= 1 {
		if be < -1<<12 || be > 1<<12 {
			ae += be
			break
		}
		if i&1 == 1 {
			a = float64(a * base)
			ae += be
		}
		base = float64(base * base)
		be <<= 1
		if base < .5 {
			base += base
			be--
		}
	}
	if y < 0 {
		a, ae = 1/a, -ae
	}
	return math.Ldexp(a, ae)
}

// powHuge is for exponents beyond 2^62, which are all even.
func powHuge(x, y float64) float64 {
	if x == -1 {
		return 1
	}
	if (math.Abs(x) < 1) == (y > 0) {
		return 0
	}
	return math.Inf(1)
}

// powSpecial has the cases that C's pow names.
func powSpecial(x, y float64) (float64, bool) {
	odd := math.Abs(y) < 1<<53 && math.Mod(y, 2) != 0 && y == math.Trunc(y)
	switch {
	case y == 0 || x == 1:
		return 1, true
	case y == 1:
		return x, true
	case x != x || y != y:
		return math.NaN(), true
	case math.IsInf(y, 0):
		switch {
		case x == -1:
			return 1, true
		case (math.Abs(x) < 1) == (y > 0):
			return 0, true
		}
		return math.Inf(1), true
	case x == 0 || math.IsInf(x, 0):
		r := 0.0
		if (x == 0) == (y < 0) {
			r = math.Inf(1)
		}
		if odd && math.Signbit(x) {
			r = -r
		}
		return r, true
	case y == 0.5:
		return math.Sqrt(x), true
	case x < 0 && y != math.Trunc(y):
		return math.NaN(), true
	}
	return 0, false
}

// reduce answers x minus a multiple of pi/2, and which multiple modulo 4. Beyond
// 2^30 or so the angle loses its meaning, but not its value.
func reduce(x float64) (float64, int) {
	if math.Abs(x) > 1<<30 {
		x = math.Mod(x, 2*math.Pi)
	}
	n := math.Floor(float64(x*(2/math.Pi)) + 0.5)
	// pi/2 in three parts, the first two short enough for exact products.
	const (
		part1 = 1.57079632673412561417e+00
		part2 = 6.07710050630396597660e-11
		part3 = 2.02226624879595063154e-21
	)
	r := x - float64(n*part1)
	r -= float64(n * part2)
	r -= float64(n * part3)
	return r, int(int64(n) & 3)
}

func sinKernel(x float64) float64 {
	z := float64(x * x)
	return x + float64(float64(x*z)*horner(z, -1.66666666666666324348e-01, 8.33333333332248946124e-03,
		-1.98412698298579493134e-04, 2.75573137070700676789e-06, -2.50507602534068634195e-08,
		1.58969099521155010221e-10))
}

func cosKernel(x float64) float64 {
	z := float64(x * x)
	return 1 - (float64(0.5*z) - float64(float64(z*z)*horner(z, 4.16666666666666019037e-02,
		-1.38888888888741095749e-03, 2.48015872894767294178e-05, -2.75573143513906633035e-07,
		2.08757232129817482790e-09, -1.13596475577881948265e-11)))
}

func sin(x float64) float64 {
	if math.IsInf(x, 0) || x != x {
		return math.NaN()
	}
	if x == 0 {
		return x
	}
	r, quadrant := reduce(x)
	return rotate(sinKernel(r), cosKernel(r), quadrant)
}

func cos(x float64) float64 {
	if math.IsInf(x, 0) || x != x {
		return math.NaN()
	}
	r, quadrant := reduce(x)
	return rotate(sinKernel(r), cosKernel(r), (quadrant+1)&3)
}

func rotate(s, c float64, quadrant int) float64 {
	switch quadrant {
	case 0:
		return s
	case 1:
		return c
	case 2:
		return -s
	}
	return -c
}

func tan(x float64) float64 {
	if x == 0 {
		return x
	}
	return sin(x) / cos(x)
}

// atan reduces to small arguments by halving the angle.
func atan(x float64) float64 {
	a := math.Abs(x)
	var r float64
	switch {
	case x != x || x == 0:
		return x
	case a > 1e19:
		r = math.Pi / 2
	case a > 2.41421356237309504880:
		r = math.Pi/2 - (atanKernel(1/a) - 6.123233995736765886130e-17)
	case a > 0.66:
		r = math.Pi/4 + (atanKernel((a-1)/(a+1)) + 3.061616997868382943065e-17)
	default:
		r = atanKernel(a)
	}
	return math.Copysign(r, x)
}

// atanKernel is Cephes' rational approximation up to 0.66.
func atanKernel(x float64) float64 {
	z := float64(x * x)
	p := horner(z, -6.485021904942025371773e1, -1.228866684490136173410e2, -7.500855792314704667340e1,
		-1.615753718733365076637e1, -8.750608600031904122785e-1)
	q := horner(z, 1.945506571482613964425e2, 4.853903996359136964868e2, 4.328810604912902668951e2,
		1.650270098316988542046e2, 2.485846490142306297962e1, 1)
	return x + float64(x*(float64(z*p)/q))
}

func atan2(y, x float64) float64 {
	switch {
	case y != y || x != x:
		return math.NaN()
	case y == 0:
		if math.Signbit(x) {
			return math.Copysign(math.Pi, y)
		}
		return y
	case x == 0:
		return math.Copysign(math.Pi/2, y)
	case math.IsInf(x, 0) && math.IsInf(y, 0):
		if x > 0 {
			return math.Copysign(math.Pi/4, y)
		}
		return math.Copysign(3*math.Pi/4, y)
	case math.IsInf(x, 1):
		return math.Copysign(0, y)
	case math.IsInf(x, -1):
		return math.Copysign(math.Pi, y)
	case math.IsInf(y, 0):
		return math.Copysign(math.Pi/2, y)
	}
	q := atan(y / x)
	if x < 0 {
		if q <= 0 {
			return q + math.Pi
		}
		return q - math.Pi
	}
	return q
}

func asin(x float64) float64 {
	if math.Abs(x) > 1 || x != x {
		return math.NaN()
	}
	if x == 0 {
		return x
	}
	return atan2(x, math.Sqrt(float64((1-x)*(1+x))))
}

func acos(x float64) float64 {
	if math.Abs(x) > 1 || x != x {
		return math.NaN()
	}
	return atan2(math.Sqrt(float64((1-x)*(1+x))), x)
}

func cosh(x float64) float64 {
	a := math.Abs(x)
	if a > 700 {
		h := exp(a / 2)
		return float64(float64(h/2) * h)
	}
	e := exp(a)
	return (e + 1/e) / 2
}

func sinh(x float64) float64 {
	a := math.Abs(x)
	switch {
	case x == 0 || x != x:
		return x
	case a > 700:
		h := exp(a / 2)
		return math.Copysign(float64(float64(h/2)*h), x)
	case a < 0.5:
		z := float64(x * x)
		return float64(x * horner(z, 1, 1.0/6, 1.0/120, 1.0/5040, 1.0/362880, 1.0/39916800, 1.0/6227020800))
	}
	e := exp(a)
	return math.Copysign((e-1/e)/2, x)
}

func tanh(x float64) float64 {
	a := math.Abs(x)
	switch {
	case x == 0 || x != x:
		return x
	case a > 22:
		return math.Copysign(1, x)
	case a < 0.5:
		return sinh(x) / cosh(x)
	}
	e := exp(2 * a)
	return math.Copysign(1-2/(e+1), x)
}
