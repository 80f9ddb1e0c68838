// Gated delta rule (Yang et al. 2024, "Gated Delta Networks"; VECTOR_GATE: Kimi Delta Attention,
// Kimi Team 2025). A head has a matrix S [DIM values, DIM keys]; each row of a sequence does
//   S = S * exp(g);  e = beta * (v - S k);  S += e k^T;  y = S q
// with q and k of length 1, q then divided by sqrt(DIM), beta = sigmoid(its projection) and
// g = a * softplus(alpha + bias), one for the head or, with VECTOR_GATE, one per key.
// With the decayed S before the update, y = S q + e (k . q), so S k and S q are computed in one pass.
// Rows of S are independent. A workgroup holds ROWS of them in registers, each in TEAM invocations, and
// goes through the sequence by TILE rows at a time, which are staged in workgroup memory.
struct Params {
  heads: u32,        // value heads
  key_heads: u32,    // value head h has key head h / key_share % key_heads
  key_share: u32,
  stride: u32,       // floats in a row of qkv
  q_first: u32,
  k_first: u32,
  v_first: u32,
  alpha_stride: u32,
  alpha_first: u32,
  beta_stride: u32,
  beta_first: u32,
  y_stride: u32,
  epsilon: f32,
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(3) var<storage, read> qkv: array<vec4<f32>>;  // [rows, stride / 4]
@group(0) @binding(4) var<storage, read> alpha: array<f32>;      // [rows, heads(, DIM)]
@group(0) @binding(5) var<storage, read> beta: array<f32>;       // [rows, heads]
@group(0) @binding(6) var<storage, read> a: array<f32>;          // [heads]
@group(0) @binding(7) var<storage, read> bias: array<f32>;       // [heads(, DIM)]
@group(0) @binding(8) var<storage, read_write> state: array<vec4<f32>>;  // [slots, heads, KEYS, DIM]
@group(0) @binding(9) var<storage, read_write> y: array<f32>;            // [rows, heads, DIM]

const ROWS = WORKGROUP / TEAM;
const KEYS = DIM / 4u;  // quads of a key, QUADS of them to an invocation
const_assert ROWS * TEAM == WORKGROUP && DIM % ROWS == 0u && QUADS * TEAM == KEYS;
var<workgroup> tile_q: array<vec4<f32>, TILE * KEYS>;
var<workgroup> tile_k: array<vec4<f32>, TILE * KEYS>;
var<workgroup> tile_v: array<f32, TILE * ROWS>;
var<workgroup> tile_dots: array<f32, TILE * 3u>;      // k . k, q . q, k . q
var<workgroup> tile_gates: array<vec2<f32>, TILE>;    // beta, decay
#if VECTOR_GATE
var<workgroup> tile_decays: array<vec4<f32>, TILE * KEYS>;
#end
#if SPLIT
var<workgroup> tile_sums: array<vec2<f32>, 2u * WORKGROUP>;
#end

#if VECTOR_GATE
fn decay(row: u32, head: u32, key: u32) -> f32 {
  let column = head * DIM + key;
  let raw = alpha[row * params.alpha_stride + params.alpha_first + column];
  return exponential(a[head] * softplus(raw + bias[column]));
}
#else
fn decay(row: u32, head: u32) -> f32 {
  let raw = alpha[row * params.alpha_stride + params.alpha_first + head];
  return exponential(a[head] * softplus(raw + bias[head]));
}
#end

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let segment = segment_at(workgroup.y);
  let head = workgroup.x / (DIM / ROWS);
  let first_value = workgroup.x % (DIM / ROWS) * ROWS;
  let key_head = head / params.key_share % params.key_heads;
  let lane = thread % ROWS;
  let first_quad = thread / ROWS * QUADS;
  let first_key = (segment.slot * params.heads + head) * KEYS + first_quad;
  let state_at = first_key * DIM + first_value + lane;
  #for j in 0..QUADS
  var s$j = select(state[state_at + $j * DIM], vec4(0.0), segment.fresh);
  #end

  for (var done = 0u; done < segment.count; done += TILE) {
    let first_row = segment.first + done;
    let count = min(TILE, segment.count - done);
    for (var i = thread; i < count * KEYS; i += WORKGROUP) {
      let row = first_row + i / KEYS;
      let at = (row * params.stride + key_head * DIM) / 4u + i % KEYS;
      tile_q[i] = qkv[at + params.q_first / 4u];
      tile_k[i] = qkv[at + params.k_first / 4u];
      #if VECTOR_GATE
      let key = i % KEYS * 4u;
      tile_decays[i] = vec4(
        decay(row, head, key), decay(row, head, key + 1u),
        decay(row, head, key + 2u), decay(row, head, key + 3u),
      );
      #end
    }
    for (var i = thread; i < count * ROWS; i += WORKGROUP) {
      let row = first_row + i / ROWS;
      let at = row * params.stride + params.v_first + head * DIM + first_value + i % ROWS;
      tile_v[i] = qkv[at / 4u][at % 4u];
    }
    for (var i = thread; i < count; i += WORKGROUP) {
      let row = first_row + i;
      let raw = beta[row * params.beta_stride + params.beta_first + head];
      #if VECTOR_GATE
      tile_gates[i] = vec2(sigmoid(raw), 1.0);
      #else
      tile_gates[i] = vec2(sigmoid(raw), decay(row, head));
      #end
    }
    workgroupBarrier();

    for (var i = thread; i < count * 3u; i += WORKGROUP) {
      let row = i / 3u * KEYS;
      var sum = 0.0;
      for (var j = 0u; j < KEYS; j++) {
        let key = tile_k[row + j];
        let query = tile_q[row + j];
        sum += dot(select(key, query, i % 3u == 1u), select(key, query, i % 3u > 0u));
      }
      tile_dots[i] = sum;
    }
    workgroupBarrier();

    for (var row = 0u; row < count; row++) {
      let gates = tile_gates[row];
      let k_scale = 1.0 / max(sqrt(tile_dots[3u * row]), params.epsilon);
      let q_scale = inverseSqrt(f32(DIM)) / max(sqrt(tile_dots[3u * row + 1u]), params.epsilon);
      let at = row * KEYS + first_quad;
      var sums = vec2(0.0);  // S k and S q with the decayed S
      #for j in 0..QUADS
      #if VECTOR_GATE
      s$j *= tile_decays[at + $j];
      #else
      s$j *= gates.y;
      #end
      sums += vec2(dot(s$j, tile_k[at + $j]), dot(s$j, tile_q[at + $j]));
      #end
      #if SPLIT
      // Rows alternate between two sets of sums, so that one barrier for each row is enough.
      let turn = row % 2u * WORKGROUP;
      tile_sums[turn + thread] = sums;
      workgroupBarrier();
      sums = vec2(0.0);
      for (var part = 0u; part < TEAM; part++) {
        sums += tile_sums[turn + part * ROWS + lane];
      }
      #end
      let change = gates.x * (tile_v[row * ROWS + lane] - sums.x * k_scale) * k_scale;
      #for j in 0..QUADS
      s$j += change * tile_k[at + $j];
      #end
      if (first_quad == 0u) {
        let to = (first_row + row) * params.y_stride + head * DIM + first_value + lane;
        y[to] = (sums.y + change * tile_dots[3u * row + 2u]) * q_scale;
      }
    }
    workgroupBarrier();
  }

  #for j in 0..QUADS
  state[state_at + $j * DIM] = s$j;
  #end
}
