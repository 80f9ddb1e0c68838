// Rotary position embedding (Su et al. 2021) on queries in place and on keys, which go to the paged
// KV cache with the values. One invocation handles four elements of one head of one row.
// BY_HEAD: a workgroup has one head. NORMED: its RMSNorm is taken first where QUERY_NORM or KEY_NORM is
// 1, with weights if there are any. CODED_KEYS, CODED_VALUES: they become codes of KEY_BITS, VALUE_BITS
// (cache_codes.wgsl). An invocation has a group of them: of its workgroup's key, or of all values.
// HALF_PAIRS: element i is paired with i + rotary/2 (NeoX); otherwise 2i with 2i + 1 (Llama), both
// counted from the first rotated element. ROTATED, CACHED, VALUES: whether there is any of that.
// IN_PLACE: whether there are queries to rotate.
// The angle position * frequency comes from a table of two parts, position = 256 * high + low, as unit
// vectors that multiply: exact at any position, where sin and cos of a large f32 are not.
// SECTIONS: M-RoPE (Wang et al. 2024), whose positions have three parts. Each rotates the pairs of its
// section, or (INTERLEAVED) every third pair.
struct Params {
  heads: u32,
  kv_heads: u32,
  rotary: u32,        // rotated elements of a head, a multiple of four
  rotary_start: u32,  // the first of them, a multiple of four
  stride: u32,        // floats in a row of qkv
  first: u32,         // column of the first head
  max_blocks: u32,    // blocks per row of the table
  time: u32,          // pairs in the section of each part of the position
  height: u32,
  width: u32,
  other: u32,         // of no part: not rotated
  #if NORMED
  query_epsilon: f32,
  key_epsilon: f32,
  query_weight_step: u32, // 0 where all heads share their weights
  key_weight_step: u32,
  #end
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> rows: array<StepRow>;             // [rows]
#if IN_PLACE
@group(0) @binding(2) var<storage, read_write> qkv: array<f32>;           // [rows, stride]: q, k, v heads
#else
@group(0) @binding(2) var<storage, read> qkv: array<f32>;
#end
#if ROTATED
@group(0) @binding(3) var<storage, read> angles: array<vec4<f32>>;        // [256 + positions/256, rotary/4] (cos, sin) twice
#end

// Elements of the caches: two floats, or a word of codes.
#if CODED_KEYS
alias CachedKeys = atomic<u32>;
#else
#if HALF_KEYS
alias CachedKeys = u32;
#else
alias CachedKeys = vec2<f32>;
#end
#end
#if CODED_VALUES
alias CachedValues = atomic<u32>;
#else
#if HALF_VALUES
alias CachedValues = u32;
#else
alias CachedValues = vec2<f32>;
#end
#end
#if CACHED
@group(0) @binding(5) var<storage, read> table: array<u32>;               // [slots, max_blocks]
@group(0) @binding(6) var<storage, read_write> keys: array<CachedKeys>;
#end
#if VALUES
@group(0) @binding(7) var<storage, read_write> values: array<CachedValues>;
#end
#if QUERY_WEIGHT
@group(0) @binding(4) var<storage, read> query_weight: array<f32>;        // [HEAD_DIM], or of each head
#end
#if KEY_WEIGHT
@group(0) @binding(8) var<storage, read> key_weight: array<f32>;
#end

const QUADS = HEAD_DIM / 4u;
const VALUE_QUADS = VALUE_DIM / 4u;
const KEY_GROUPS = (QUADS + 7u) / 8u;
const VALUE_GROUPS = (VALUE_QUADS + 7u) / 8u;

#if CODED_KEYS
// The key of this workgroup, two elements at a time.
var<workgroup> key_pairs: array<vec2<f32>, HEAD_DIM / 2u>;
#end

#if CACHED
// Number of a head of this row in the cache.
fn cached_head_of(entry: StepRow, kv_head: u32) -> u32 {
  let block = table[entry.slot * params.max_blocks + entry.position / BLOCK];
  return cached_head(block, kv_head, params.kv_heads, entry.position);
}

// Stores elements 2 * at and 2 * at + 1 of a cached head, or keeps them for its codes.
fn store_key(head: u32, at: u32, pair: vec2<f32>) {
  #if CODED_KEYS
  key_pairs[at] = pair;
  #else
  #if HALF_KEYS
  keys[2u * QUADS * head + at] = pack2x16float(pair);
  #else
  keys[2u * QUADS * head + at] = pair;
  #end
  #end
}
#end

#if PLAIN_VALUES
fn store_value(head: u32, at: u32, pair: vec2<f32>) {
  #if HALF_VALUES
  values[2u * VALUE_QUADS * head + at] = pack2x16float(pair);
  #else
  values[2u * VALUE_QUADS * head + at] = pair;
  #end
}
#end

// Multiplies two unit vectors as complex numbers, two at a time.
fn multiply_complex(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
  return vec4(
    a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x,
    a.z * b.z - a.w * b.w, a.z * b.w + a.w * b.z,
  );
}

#if ROTATED
// The angles of pairs 2 * at and 2 * at + 1 at a position, as (cos, sin).
fn angles_at(position: u32, at: u32) -> vec4<f32> {
  let quarter = params.rotary / 4u;
  return multiply_complex(
    angles[(position % 256u) * quarter + at],
    angles[(256u + position / 256u) * quarter + at],
  );
}

fn angles_of(entry: StepRow, at: u32) -> vec4<f32> {
  #if SECTIONS
  let parts = vec3(entry.time, entry.height, entry.width);
  let first = angles_at(parts[part_of(2u * at)], at);
  let second = angles_at(parts[part_of(2u * at + 1u)], at);
  return vec4(first.xy, second.zw);
  #else
  return angles_at(entry.position, at);
  #end
}
#end

#if SECTIONS
// The part of the position that rotates a pair.
fn part_of(pair: u32) -> u32 {
  let at = pair % (params.time + params.height + params.width + params.other);
  #if INTERLEAVED
  return at % 3u;
  #else
  return u32(at >= params.time) + u32(at >= params.time + params.height);
  #end
}
#end

#if NORMED
// What the norm multiplies the elements of this workgroup's head by, besides their weights.
var<private> head_scale = 1.0;
#end

// Two elements of a head that begins at `base`, after its norm.
fn pair_of(head: u32, base: u32, element: u32) -> vec2<f32> {
  var pair = vec2(qkv[base + element], qkv[base + element + 1u]);
  #if NORMED
  pair *= head_scale;
  #if QUERY_WEIGHT
  if (head < params.heads) {
    let at = head * params.query_weight_step + element;
    pair *= vec2(query_weight[at], query_weight[at + 1u]);
  }
  #end
  #if KEY_WEIGHT
  if (head >= params.heads) {
    let at = (head - params.heads) * params.key_weight_step + element;
    pair *= vec2(key_weight[at], key_weight[at + 1u]);
  }
  #end
  #end
  return pair;
}

#if CODED_KEYS
// Stores the codes of this workgroup's key, when all of it is in key_pairs.
fn store_key_codes(cached: u32, thread: u32) {
  for (var group = thread; group < KEY_GROUPS; group += WORKGROUP) {
    var x: array<vec4<f32>, 8>;
    #for i in 0..8
    let quad$i = min(group * 8u + $i, QUADS - 1u);
    x[$i] = vec4(key_pairs[2u * quad$i], key_pairs[2u * quad$i + 1u]);
    #end
    store_group(true, KEY_BITS, HEAD_DIM, cached, group, x);
  }
}
#end

#if CODED_VALUES
// Stores the codes of a group of values; `rest` counts groups over all heads.
fn store_value_codes(entry: StepRow, row: u32, rest: u32) {
  let head = rest / VALUE_GROUPS;
  let group = rest % VALUE_GROUPS;
  let from_value = row + (params.heads + params.kv_heads) * HEAD_DIM + head * VALUE_DIM;
  var x: array<vec4<f32>, 8>;
  #for i in 0..8
  let at$i = from_value + 4u * min(group * 8u + $i, VALUE_QUADS - 1u);
  x[$i] = vec4(qkv[at$i], qkv[at$i + 1u], qkv[at$i + 2u], qkv[at$i + 3u]);
  #end
  store_group(false, VALUE_BITS, VALUE_DIM, cached_head_of(entry, head), group, x);
}
#end

#if PLAIN_VALUES
// Stores four values of a row; `rest` counts them over all heads.
fn store_values(entry: StepRow, row: u32, rest: u32) {
  let head = cached_head_of(entry, rest / VALUE_QUADS);
  let at = 2u * (rest % VALUE_QUADS);
  let from_value = row + (params.heads + params.kv_heads) * HEAD_DIM + 4u * rest;
  store_value(head, at, vec2(qkv[from_value], qkv[from_value + 1u]));
  store_value(head, at + 1u, vec2(qkv[from_value + 2u], qkv[from_value + 3u]));
}
#end

// Rotates four elements of a head of queries or keys, and stores them.
fn rotate_quad(entry: StepRow, row: u32, head: u32, quad: u32) {
  // Where the two pairs of this invocation begin, and how far apart their partners are.
  let base = row + head * HEAD_DIM;
  var first = quad * 4u;
  var second = first + 2u;
  var a = pair_of(head, base, first);
  var b = pair_of(head, base, second);
  #if ROTATED
  let start = params.rotary_start;
  let quarter = params.rotary / 4u;
  let pairs = quad - start / 4u;   // wraps, and so is too large, before the first
  if (pairs < quarter) {
    let angles = angles_of(entry, pairs);
    #if HALF_PAIRS
    first = start + pairs * 2u;
    second = first + params.rotary / 2u;
    let p = pair_of(head, base, first);
    let q = pair_of(head, base, second);
    a = p * angles.xz - q * angles.yw;
    b = q * angles.xz + p * angles.yw;
    #else
    a = vec2(a.x * angles.x - a.y * angles.y, a.y * angles.x + a.x * angles.y);
    b = vec2(b.x * angles.z - b.y * angles.w, b.y * angles.z + b.x * angles.w);
    #end
  }
  #end
  if (head < params.heads) {
    #if IN_PLACE
    qkv[base + first] = a.x;
    qkv[base + first + 1u] = a.y;
    qkv[base + second] = b.x;
    qkv[base + second + 1u] = b.y;
    #end
    return;
  }
  #if CACHED
  let cached = cached_head_of(entry, head - params.heads);
  store_key(cached, first / 2u, a);
  store_key(cached, second / 2u, b);
  #end
}

#if BY_HEAD
@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let head = workgroup.x;
  let rotated_heads = params.heads + params.kv_heads;
  let entry = rows[workgroup.y];
  let row = workgroup.y * params.stride + params.first;
  #if NORMED
  var squares = 0.0;
  if (head < rotated_heads) {
    for (var at = row + head * HEAD_DIM + thread; at < row + (head + 1u) * HEAD_DIM; at += WORKGROUP) {
      squares += qkv[at] * qkv[at];
    }
  }
  let mean = workgroup_sum(squares, thread) / f32(HEAD_DIM);
  let is_query = head < params.heads;
  if (select(KEY_NORM, QUERY_NORM, is_query) == 1u) {
    head_scale = inverseSqrt(mean + select(params.key_epsilon, params.query_epsilon, is_query));
  }
  #end
  if (head < rotated_heads) {
    for (var quad = thread; quad < QUADS; quad += WORKGROUP) {
      rotate_quad(entry, row, head, quad);
    }
    #if CODED_KEYS
    if (head >= params.heads) {
      workgroupBarrier();
      store_key_codes(cached_head_of(entry, head - params.heads), thread);
    }
    #end
    return;
  }
  #if PLAIN_VALUES
  for (var quad = thread; quad < VALUE_QUADS; quad += WORKGROUP) {
    store_values(entry, row, (head - rotated_heads) * VALUE_QUADS + quad);
  }
  #end
  #if CODED_VALUES
  let rest = (head - rotated_heads) * WORKGROUP + thread;
  if (rest < params.kv_heads * VALUE_GROUPS) {
    store_value_codes(entry, row, rest);
  }
  #end
}
#else
@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let head = id.x / QUADS;
  let rotated_heads = params.heads + params.kv_heads;
  let row = id.y * params.stride + params.first;
  if (head < rotated_heads) {
    rotate_quad(rows[id.y], row, head, id.x % QUADS);
    return;
  }
  #if PLAIN_VALUES
  let rest = id.x - rotated_heads * QUADS;
  if (rest < params.kv_heads * VALUE_QUADS) {
    store_values(rows[id.y], row, rest);
  }
  #end
}
#end
