// Radix selection: finds, without sorting, the first entries in order that make up a count or a share
// of the probability. For each digit of 8 bits, from the highest one on, a histogram over the digit
// shows the bin in which the sum is reached; the next digit is that of the entries in this bin. Sums
// have 64 bits as (high, low); sums of probabilities are fixed-point numbers with 45 bits after the
// point, enough for 2^18 equal tokens. Invocation i has bin i.

const_assert WORKGROUP == 256u;
var<workgroup> counts: array<atomic<u32>, 256>;
var<workgroup> mass_low: array<atomic<u32>, 256>;
var<workgroup> mass_high: array<atomic<u32>, 256>;
var<workgroup> sixteenths: array<vec2<u32>, 16>;
var<workgroup> boundary: vec4<u32>;  // bin, whether the selection ends there, sum before it

fn subtract64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return vec2(a.x - b.x - u32(a.y < b.y), a.y - b.y);
}

fn less64(a: vec2<u32>, b: vec2<u32>) -> bool {
  return a.x < b.x || (a.x == b.x && a.y < b.y);
}

/** The least sum that is `share` of `total`, at least the smallest there is. */
fn share_of(total: vec2<u32>, share: f32) -> vec2<u32> {
  let factor = u32(max(share, 0.0) * 0x1p32);
  let low = multiply_wide(total.y, factor);
  let product = add64(multiply_wide(total.x, factor), vec2(0u, low.x));
  return add64(product, vec2(0u, u32(low.y > 0u || all(product == vec2(0u)))));
}

fn bin_sum(bin: u32, by_mass: bool) -> vec2<u32> {
  if (by_mass) {
    return vec2(atomicLoad(&mass_high[bin]), atomicLoad(&mass_low[bin]));
  }
  return vec2(0u, atomicLoad(&counts[bin]));
}

/** The shift of the highest digit of `value` that is not zero. */
fn first_shift(value: u32) -> u32 {
  return firstLeadingBit(value | 1u) & 24u;
}

/**
 * The last of the first `count` of some entries or, where count is 0, of the fewest with `share`
 * of the probability: an entry that divides them from the rest. Returns `last` if that are all. Tokens
 * that early filters drop are none of them.
 */
fn select_first(
  options: Sampling, entries: Entries, last: vec2<u32>, count: u32, thread: u32,
) -> vec2<u32> {
  let by_mass = count == 0u;
  var need = vec2(0u, count);
  var first = vec2(0u);  // first entry of the current bin
  var by_id = false;
  var shift = first_shift(last.x);
  for (var level = 0u; level < 8u; level++) {
    atomicStore(&counts[thread], 0u);
    atomicStore(&mass_low[thread], 0u);
    atomicStore(&mass_high[thread], 0u);
    if (thread == 0u) {
      boundary = vec4(NONE);
    }
    workgroupBarrier();

    for (var at = thread; at < entries.size; at += WORKGROUP) {
      let item = entry(entries, at);
      let bin = select(item.x - first.x, item.y - first.y, by_id) >> shift;
      let relative = relative_logit(item.x, entries.best_key);
      let is_in = is_kept(item, last) && early_filters_keep(options, relative);
      if (is_in && bin < 256u && (!by_id || item.x == first.x)) {
        atomicAdd(&counts[bin], 1u);
        if (by_mass) {
          let mass = fixed_point(exp(max(relative, -80.0)));
          let carry = u32(atomicAdd(&mass_low[bin], mass.y) > ~mass.y);
          if (mass.x + carry > 0u) {
            atomicAdd(&mass_high[bin], mass.x + carry);
          }
        }
      }
    }
    workgroupBarrier();

    if (thread < 16u) {
      var sum = vec2(0u);
      for (var bin = 16u * thread; bin < 16u * thread + 16u; bin++) {
        sum = add64(sum, bin_sum(bin, by_mass));
      }
      sixteenths[thread] = sum;
    }
    workgroupBarrier();
    if (by_mass && level == 0u) {
      var total = vec2(0u);
      for (var i = 0u; i < 16u; i++) {
        total = add64(total, sixteenths[i]);
      }
      need = share_of(total, options.top_p);
    }
    var before = vec2(0u);
    for (var i = 0u; i < thread / 16u; i++) {
      before = add64(before, sixteenths[i]);
    }
    for (var bin = thread / 16u * 16u; bin < thread; bin++) {
      before = add64(before, bin_sum(bin, by_mass));
    }
    let sum = bin_sum(thread, by_mass);
    if (less64(before, need) && !less64(add64(before, sum), need)) {
      let ends = atomicLoad(&counts[thread]) == 1u || all(add64(before, sum) == need);
      boundary = vec4(thread, u32(ends), before);
    }

    let found = workgroupUniformLoad(&boundary);
    if (found.x == NONE) {
      return last;
    }
    need = subtract64(need, found.zw);
    let step = vec2(found.x << shift, 0u);
    first += select(step, step.yx, by_id);
    if (found.y == 1u) {
      let rest = (1u << shift) - 1u;
      let end = select(vec2(first.x + rest, NONE), vec2(first.x, first.y + rest), by_id);
      return select(last, end, is_kept(end, last));
    }
    if (shift > 0u) {
      shift -= 8u;
    } else {
      by_id = true;
      shift = first_shift(params.vocabulary);
    }
  }
  return first;
}
