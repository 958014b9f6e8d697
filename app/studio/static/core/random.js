// Seeded random numbers: the same seed and purpose give the same draws in every browser.

/** Spread a string and a number over 32 bits, again and again: where each stream starts. */
function* words(seed, purpose) {
  let h = 2166136261 ^ seed;
  for (const letter of purpose) h = Math.imul(h ^ letter.codePointAt(0), 16777619);
  for (;;) {
    h = (h + 0x9e3779b9) | 0;
    let z = h;
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
    yield (z ^ (z >>> 16)) >>> 0;
  }
}

/** A stream of random numbers; one for each purpose, so that changing one setting leaves the others' draws alone. */
export class Random {
  constructor(seed, purpose) {
    const source = words(seed, purpose);
    [this.a, this.b, this.c] = [source.next().value, source.next().value, source.next().value];
    this.counter = 1;
    for (let i = 0; i < 12; i += 1) this.bits();
  }

  /** 32 random bits (Chris Doty-Humphrey's small fast counting generator). */
  bits() {
    const t = (this.a + this.b + this.counter) | 0;
    this.counter = (this.counter + 1) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = (((this.c << 21) | (this.c >>> 11)) + t) | 0;
    return t >>> 0;
  }

  /** Uniform in [low, high). */
  uniform(low = 0, high = 1) {
    return low + (high - low) * (this.bits() / 4294967296);
  }

  /** A whole number from 0 to n − 1. */
  below(n) {
    return Math.floor(this.uniform() * n);
  }

  /** Normal by Box and Muller's rule. */
  normal(mean = 0, deviation = 1) {
    const radius = Math.sqrt(-2 * Math.log(1 - this.uniform()));
    return mean + deviation * radius * Math.cos(2 * Math.PI * this.uniform());
  }

  /** `count` different numbers below n. */
  choose(n, count) {
    const all = Array.from({ length: n }, (_, i) => i);
    for (let i = 0; i < count; i += 1) {
      const j = i + this.below(n - i);
      [all[i], all[j]] = [all[j], all[i]];
    }
    return all.slice(0, count);
  }
}
