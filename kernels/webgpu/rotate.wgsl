// Rotary position embedding (Su et al. 2021) on queries in place and on keys, which go to the paged
// KV cache with the values. One invocation handles four elements of one head of one row.
// NORMED: a workgroup has one head, of which the RMSNorm is taken first where QUERY_NORM or KEY_NORM is
// 1, with weights if there are any.
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

#if HALF_KEYS
alias KeyPair = u32;
#else
alias KeyPair = vec2<f32>;
#end
#if HALF_VALUES
alias ValuePair = u32;
#else
alias ValuePair = vec2<f32>;
#end
#if CACHED
@group(0) @binding(5) var<storage, read> table: array<u32>;               // [slots, max_blocks]
@group(0) @binding(6) var<storage, read_write> keys: array<KeyPair>;
#end
#if VALUES
@group(0) @binding(7) var<storage, read_write> values: array<ValuePair>;
#end
#if QUERY_WEIGHT
@group(0) @binding(4) var<storage, read> query_weight: array<f32>;        // [HEAD_DIM], or of each head
#end
#if KEY_WEIGHT
@group(0) @binding(8) var<storage, read> key_weight: array<f32>;
#end

const QUADS = HEAD_DIM / 4u;
const VALUE_QUADS = VALUE_DIM / 4u;

fn packed_keys(pair: vec2<f32>) -> KeyPair {
  #if HALF_KEYS
  return pack2x16float(pair);
  #else
  return pair;
  #end
}

fn packed_values(pair: vec2<f32>) -> ValuePair {
  #if HALF_VALUES
  return pack2x16float(pair);
  #else
  return pair;
  #end
}

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

#if VALUES
// Stores four values of a row; `rest` counts them over all heads.
fn store_values(entry: StepRow, row: u32, rest: u32) {
  let block = table[entry.slot * params.max_blocks + entry.position / BLOCK];
  let cached = cached_head(block, rest / VALUE_QUADS, params.kv_heads, entry.position);
  let to = 2u * (cached * VALUE_QUADS + rest % VALUE_QUADS);
  let from_value = row + (params.heads + params.kv_heads) * HEAD_DIM + 4u * rest;
  values[to] = packed_values(vec2(qkv[from_value], qkv[from_value + 1u]));
  values[to + 1u] = packed_values(vec2(qkv[from_value + 2u], qkv[from_value + 3u]));
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
  let block = table[entry.slot * params.max_blocks + entry.position / BLOCK];
  let at = 2u * cached_head(block, head - params.heads, params.kv_heads, entry.position) * QUADS;
  keys[at + first / 2u] = packed_keys(a);
  keys[at + second / 2u] = packed_keys(b);
  #end
}

#if NORMED
@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let head = workgroup.x;
  let rotated_heads = params.heads + params.kv_heads;
  let entry = rows[workgroup.y];
  let row = workgroup.y * params.stride + params.first;
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
  if (head < rotated_heads) {
    for (var quad = thread; quad < QUADS; quad += WORKGROUP) {
      rotate_quad(entry, row, head, quad);
    }
  }
  #if VALUES
  if (head >= rotated_heads) {
    for (var quad = thread; quad < VALUE_QUADS; quad += WORKGROUP) {
      store_values(entry, row, (head - rotated_heads) * VALUE_QUADS + quad);
    }
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
  #if VALUES
  let rest = id.x - rotated_heads * QUADS;
  if (rest < params.kv_heads * VALUE_QUADS) {
    store_values(rows[id.y], row, rest);
  }
  #end
}
#end
