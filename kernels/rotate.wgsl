// Rotary position embedding (Su et al. 2021) on queries in place and on keys, which go to the paged
// KV cache with the values. One invocation handles four elements of one head of one row.
// HALF_PAIRS: element i is paired with i + rotary/2 (NeoX); otherwise 2i with 2i + 1 (Llama).
// The angle position * frequency comes from two small tables, position = 256 * high + low, as unit
// vectors that multiply: exact at any position, where sin and cos of a large f32 are not.
struct Params {
  heads: u32,
  kv_heads: u32,
  rotary: u32,      // rotated elements of a head, a multiple of four
  stride: u32,      // floats in a row of qkv
  max_blocks: u32,  // blocks per row of the table
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> rows: array<vec4<u32>>;          // [rows] token, position, slot
@group(0) @binding(2) var<storage, read> table: array<u32>;               // [slots, max_blocks]
@group(0) @binding(3) var<storage, read> low_turns: array<vec4<f32>>;     // [256, rotary/4] (cos, sin) twice
@group(0) @binding(4) var<storage, read> high_turns: array<vec4<f32>>;    // [positions/256, rotary/4]
@group(0) @binding(5) var<storage, read_write> qkv: array<f32>;           // [rows, stride]: q, k, v heads
#if HALF_CACHE
@group(0) @binding(6) var<storage, read_write> keys: array<u32>;
@group(0) @binding(7) var<storage, read_write> values: array<u32>;
#else
@group(0) @binding(6) var<storage, read_write> keys: array<vec2<f32>>;
@group(0) @binding(7) var<storage, read_write> values: array<vec2<f32>>;
#end

#if HALF_CACHE
alias CachePair = u32;
#else
alias CachePair = vec2<f32>;
#end

fn packed(pair: vec2<f32>) -> CachePair {
  #if HALF_CACHE
  return pack2x16float(pair);
  #else
  return pair;
  #end
}

// Multiplies two unit vectors as complex numbers, two at a time.
fn turn(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
  return vec4(
    a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x,
    a.z * b.z - a.w * b.w, a.z * b.w + a.w * b.z,
  );
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  const QUADS = HEAD_DIM / 4u;
  let head = id.x / QUADS;
  let quad = id.x % QUADS;
  let all_heads = params.heads + 2u * params.kv_heads;
  if (head >= all_heads) {
    return;
  }
  let entry = rows[id.y];
  let position = entry.y;
  let base = id.y * params.stride + head * HEAD_DIM;
  let is_value = head >= params.heads + params.kv_heads;
  let rotated = !is_value && quad * 4u < params.rotary;

  // Where the two pairs of this invocation begin, and how far apart their partners are.
  var first = quad * 4u;
  var second = first + 2u;
  var a = vec2(qkv[base + first], qkv[base + first + 1u]);
  var b = vec2(qkv[base + second], qkv[base + second + 1u]);
  if (rotated) {
    let quarter = params.rotary / 4u;
    let angles = turn(
      low_turns[(position % 256u) * quarter + quad],
      high_turns[(position / 256u) * quarter + quad],
    );
    #if HALF_PAIRS
    first = quad * 2u;
    second = first + params.rotary / 2u;
    let p = vec2(qkv[base + first], qkv[base + first + 1u]);
    let q = vec2(qkv[base + second], qkv[base + second + 1u]);
    a = p * angles.xz - q * angles.yw;
    b = q * angles.xz + p * angles.yw;
    #else
    a = vec2(a.x * angles.x - a.y * angles.y, a.y * angles.x + a.x * angles.y);
    b = vec2(b.x * angles.z - b.y * angles.w, b.y * angles.z + b.x * angles.w);
    #end
  }
  if (head < params.heads) {
    qkv[base + first] = a.x;
    qkv[base + first + 1u] = a.y;
    qkv[base + second] = b.x;
    qkv[base + second + 1u] = b.y;
    return;
  }
  let block = table[entry.z * params.max_blocks + position / BLOCK];
  let kv_head = (head - params.heads) % params.kv_heads;
  let at = cache_index(block, kv_head, params.kv_heads, position) * 2u;
  if (is_value) {
    values[at + first / 2u] = packed(a);
    values[at + second / 2u] = packed(b);
  } else {
    keys[at + first / 2u] = packed(a);
    keys[at + second / 2u] = packed(b);
  }
}
