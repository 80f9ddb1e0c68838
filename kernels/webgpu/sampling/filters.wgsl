// Sums over the tokens of an output that do not depend on the order of invocations, because they are of
// integers: 64 bits as (high, low), fixed-point numbers with 45 bits after the point, enough for 2^18
// numbers of at most 1.

var<workgroup> total_low: atomic<u32>;
var<workgroup> total_high: atomic<u32>;
var<workgroup> total_shared: vec2<u32>;

fn add64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let low = a.y + b.y;
  return vec2(a.x + b.x + u32(low < a.y), low);
}

/** A number from 0 to 1; exact above 2^-21. */
fn fixed_point(value: f32) -> vec2<u32> {
  let scaled = value * 0x1p13;
  let high = floor(scaled);
  return vec2(u32(high), u32((scaled - high) * 0x1p32));
}

fn number_of(sum: vec2<u32>) -> f32 {
  return f32(sum.x) * 0x1p-13 + f32(sum.y) * 0x1p-45;
}

/** All tokens that may come. */
fn all_allowed(entries: Entries) -> Entries {
  return Entries(VOCABULARY, params.vocabulary, entries.output, entries.best_key);
}

/** The sum of each invocation's. */
fn workgroup_sum(mine: vec2<u32>, thread: u32) -> vec2<u32> {
  if (thread == 0u) {
    atomicStore(&total_low, 0u);
    atomicStore(&total_high, 0u);
  }
  workgroupBarrier();
  let carry = u32(atomicAdd(&total_low, mine.y) > ~mine.y);
  atomicAdd(&total_high, mine.x + carry);
  workgroupBarrier();
  if (thread == 0u) {
    total_shared = vec2(atomicLoad(&total_high), atomicLoad(&total_low));
  }
  return workgroupUniformLoad(&total_shared);
}

/** The greatest of each invocation's. */
fn workgroup_greatest(mine: u32, thread: u32) -> u32 {
  if (thread == 0u) {
    atomicStore(&total_low, 0u);
  }
  workgroupBarrier();
  atomicMax(&total_low, mine);
  workgroupBarrier();
  if (thread == 0u) {
    total_shared = vec2(atomicLoad(&total_low));
  }
  return workgroupUniformLoad(&total_shared).x;
}
