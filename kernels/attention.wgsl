// softmax(q k^T * scale) v over the paged KV cache, causal, with grouped query heads: the one line
// that computes attention scores is marked below. Online softmax over tiles of WORKGROUP positions
// (Milakov and Gimelshein 2018; Dao et al. 2022). One workgroup per (split, KV head, query tile): a
// query tile is up to TILE consecutive rows of one sequence (one row in decode), each with GROUP
// query heads, so QUERIES = TILE * GROUP vectors share each key and value that is read. A split is
// `params.split` positions; splits are merged by attention_merge.wgsl.
struct Params {
  stride: u32,      // floats in a row of qkv
  kv_heads: u32,
  max_blocks: u32,
  split: u32,       // positions per split
  max_splits: u32,
  scale: f32,
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> rows: array<vec4<u32>>;     // [rows] token, position, slot
@group(0) @binding(2) var<storage, read> tiles: array<vec2<u32>>;    // [tiles] first row, rows
@group(0) @binding(3) var<storage, read> table: array<u32>;          // [slots, max_blocks]
@group(0) @binding(4) var<storage, read> qkv: array<vec4<f32>>;      // [rows, stride / 4]
#if HALF_CACHE
@group(0) @binding(5) var<storage, read> keys: array<vec2<u32>>;
@group(0) @binding(6) var<storage, read> values: array<vec2<u32>>;
#else
@group(0) @binding(5) var<storage, read> keys: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read> values: array<vec4<f32>>;
#end
// [rows, heads, max_splits, 1 + HEAD_DIM / 4]: (maximum, sum, _, _), then the unnormalized output.
@group(0) @binding(7) var<storage, read_write> partials: array<vec4<f32>>;

const QUERIES = TILE * GROUP;
const QUADS = HEAD_DIM / 4u;      // vec4 in a head
const PARTS = 8u;                 // invocations that share the softmax of one query
const LOWEST = -3.0e38;

var<workgroup> queries: array<vec4<f32>, QUERIES * QUADS>;
var<workgroup> scores: array<f32, QUERIES * WORKGROUP>;
var<workgroup> value_at: array<u32, WORKGROUP>;
var<workgroup> part: array<f32, WORKGROUP>;
var<workgroup> maximum: array<f32, QUERIES>;
var<workgroup> total: array<f32, QUERIES>;
var<workgroup> correction: array<f32, QUERIES>;

fn key4(at: u32) -> vec4<f32> {
  #if HALF_CACHE
  let pair = keys[at];
  return vec4(unpack2x16float(pair.x), unpack2x16float(pair.y));
  #else
  return keys[at];
  #end
}

fn value4(at: u32) -> vec4<f32> {
  #if HALF_CACHE
  let pair = values[at];
  return vec4(unpack2x16float(pair.x), unpack2x16float(pair.y));
  #else
  return values[at];
  #end
}

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let split = workgroup.x;
  let kv_head = workgroup.y;
  let first_row = tiles[workgroup.z].x;
  let row_count = tiles[workgroup.z].y;
  let first_position = rows[first_row].y;
  let slot = rows[first_row].z;
  let begin = split * params.split;
  let end = min(begin + params.split, first_position + row_count);

  for (var i = thread; i < QUERIES * QUADS; i += WORKGROUP) {
    let row = first_row + min(i / (GROUP * QUADS), row_count - 1u);
    queries[i] = qkv[row * (params.stride / 4u) + kv_head * GROUP * QUADS + i % (GROUP * QUADS)];
  }
  for (var i = thread; i < QUERIES; i += WORKGROUP) {
    maximum[i] = LOWEST;
    total[i] = 0.0;
  }
  #for i in 0..ITEMS
  var output$i = vec4(0.0);
  #end
  workgroupBarrier();

  for (var base = begin; base < end; base += WORKGROUP) {
    let position = base + thread;
    let inside = position < end;
    let block = table[slot * params.max_blocks + min(position, end - 1u) / BLOCK];
    let at = cache_index(block, kv_head, params.kv_heads, min(position, end - 1u));
    value_at[thread] = at;
    #for m in 0..QUERIES_COUNT
    var score$m = 0.0;
    #end
    for (var j = 0u; j < QUADS; j++) {
      let key = key4(at + j);
      #for m in 0..QUERIES_COUNT
      score$m += dot(queries[u32($m) * QUADS + j], key);  // attention scores: q . k
      #end
    }
    #for m in 0..QUERIES_COUNT
    scores[u32($m) * WORKGROUP + thread] =
      select(LOWEST, score$m * params.scale, inside && position <= first_position + u32($m) / GROUP);
    #end
    workgroupBarrier();

    // The running maximum and sum of each query, PARTS invocations a query.
    for (var m0 = 0u; m0 < QUERIES; m0 += WORKGROUP / PARTS) {
      let m = min(m0 + thread / PARTS, QUERIES - 1u);
      let lane = thread % PARTS;
      var peak = LOWEST;
      for (var j = lane; j < WORKGROUP; j += PARTS) {
        peak = max(peak, scores[m * WORKGROUP + j]);
      }
      part[thread] = peak;
      workgroupBarrier();
      let from_part = thread - lane;
      #for j in 0..8
      peak = max(peak, part[from_part + $j]);
      #end
      let before = maximum[m];
      peak = max(peak, before);
      workgroupBarrier();
      var sum = 0.0;
      let mine = m0 + thread / PARTS < QUERIES;
      if (mine) {
        for (var j = lane; j < WORKGROUP; j += PARTS) {
          let score = scores[m * WORKGROUP + j];
          let weight = select(0.0, exp(score - peak), score > LOWEST);
          scores[m * WORKGROUP + j] = weight;
          sum += weight;
        }
      }
      part[thread] = sum;
      workgroupBarrier();
      if (mine && lane == 0u) {
        var all = 0.0;
        #for j in 0..8
        all += part[from_part + $j];
        #end
        correction[m] = exp(before - peak);
        maximum[m] = peak;
        total[m] = total[m] * correction[m] + all;
      }
      workgroupBarrier();
    }

    // Weighted values: invocation i owns elements i, i + WORKGROUP, ... of [QUERIES, QUADS].
    #for i in 0..ITEMS
    let query$i = min((thread + u32($i) * WORKGROUP) / QUADS, QUERIES - 1u);
    output$i *= correction[query$i];
    #end
    let count = min(end - base, WORKGROUP);
    for (var j = 0u; j < count; j++) {
      #if SAME_COLUMN
      let value = value4(value_at[j] + thread % QUADS);
      #for i in 0..ITEMS
      output$i += scores[query$i * WORKGROUP + j] * value;
      #end
      #else
      #for i in 0..ITEMS
      output$i += scores[query$i * WORKGROUP + j] * value4(value_at[j] + (thread + u32($i) * WORKGROUP) % QUADS);
      #end
      #end
    }
    workgroupBarrier();
  }

  let heads = params.kv_heads * GROUP;
  #for i in 0..ITEMS
  {
    let item = thread + u32($i) * WORKGROUP;
    let query = item / QUADS;
    let row = query / GROUP;
    if (query < QUERIES && row < row_count) {
      let head = kv_head * GROUP + query % GROUP;
      let at = (((first_row + row) * heads + head) * params.max_splits + split) * (1u + QUADS);
      partials[at + 1u + item % QUADS] = output$i;
      if (item % QUADS == 0u) {
        partials[at] = vec4(maximum[query], total[query], 0.0, 0.0);
      }
    }
  }
  #end
}
