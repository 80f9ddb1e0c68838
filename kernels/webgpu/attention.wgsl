// softmax(q k^T * scale) v over the paged KV cache, with grouped query heads: the one line that
// computes attention scores is marked below. Online softmax over tiles of WORKGROUP positions
// (Milakov and Gimelshein 2018; Dao et al. 2022). One workgroup per (split, chunk of the query heads
// of a KV head, query tile): a query tile is up to TILE consecutive rows of one sequence (one row in
// decode), each with CHUNK of the GROUP query heads, so QUERIES = TILE * CHUNK vectors share each
// key and value that is read. A split is `params.split` of the positions that the tile sees, see
// attention_window.wgsl; attention_merge.wgsl joins the splits.
struct Params {
  stride: u32,        // floats in a row of qkv
  first: u32,         // column of the first query head
  kv_heads: u32,
  max_blocks: u32,
  split: u32,         // positions per split
  max_splits: u32,
  window: u32,        // positions in a window
  scale: f32,
  softcap: f32,
  temperature: f32,   // growth of queries per logarithm of their stretch of positions
  stretch: u32,       // positions in a stretch
  stretch_offset: u32,
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> rows: array<StepRow>;        // [rows]
@group(0) @binding(2) var<storage, read> tiles: array<QueryTile>;     // [tiles]
@group(0) @binding(3) var<storage, read> table: array<u32>;          // [slots, max_blocks]
@group(0) @binding(4) var<storage, read> qkv: array<vec4<f32>>;      // [rows, stride / 4]
#if HALF_CACHE
@group(0) @binding(5) var<storage, read> keys: array<vec2<u32>>;
#else
@group(0) @binding(5) var<storage, read> keys: array<vec4<f32>>;
#end
#if !SHARED_VALUES
#if HALF_CACHE
@group(0) @binding(6) var<storage, read> values: array<vec2<u32>>;
#else
@group(0) @binding(6) var<storage, read> values: array<vec4<f32>>;
#end
#end
// [rows, heads, max_splits, 1 + VALUE_QUADS]: (maximum, sum, _, _), then the unnormalized output.
@group(0) @binding(7) var<storage, read_write> partials: array<vec4<f32>>;
#if ALIBI
@group(0) @binding(8) var<storage, read> slopes: array<f32>;         // [heads]
#end

const QUERIES = TILE * CHUNK;
const QUADS = HEAD_DIM / 4u;        // vec4 in a head of queries and keys
const VALUE_QUADS = VALUE_DIM / 4u; // vec4 in a head of values
const PARTS = 8u;                   // invocations that share the softmax of one query
const LOWEST = -3.0e38;
const_assert HEAD_DIM % 4u == 0u && VALUE_DIM % 4u == 0u;
const_assert WORKGROUP % PARTS == 0u && LANES * ROWS <= WORKGROUP;
const_assert ITEMS * ROWS >= QUERIES && COLUMNS * WORKGROUP >= VALUE_QUADS;

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
  #if SHARED_VALUES
  return key4(at);
  #else
  #if HALF_CACHE
  let pair = values[at];
  return vec4(unpack2x16float(pair.x), unpack2x16float(pair.y));
  #else
  return values[at];
  #end
  #end
}

fn query4(at: u32, position: u32) -> vec4<f32> {
  #if TEMPERATURE
  let stretches = (position + params.stretch_offset) / params.stretch;
  return qkv[at] * (1.0 + params.temperature * log(f32(stretches + 1u)));
  #else
  return qkv[at];
  #end
}

// The logit of q . k for query head `head` at position `query` and a key at position `key`.
fn logit_of(score: f32, head: u32, query: u32, key: u32) -> f32 {
  var logit = score * params.scale;
  #if SOFTCAP
  // tanh(x) = 1 - 2 / (exp(2 x) + 1), which WGSL gives more exactly than its own tanh.
  // Compared, since min() may give 80 where the logit is NaN, and hide it.
  let power = 2.0 * logit / params.softcap;
  logit = params.softcap * (1.0 - 2.0 / (exp(select(power, 80.0, power > 80.0)) + 1.0));
  #end
  #if ALIBI
  logit -= slopes[head] * f32(max(query, key) - min(query, key));
  #end
  return logit;
}

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let split = workgroup.x;
  let kv_head = workgroup.y / CHUNKS;
  let chunk = workgroup.y % CHUNKS * CHUNK;   // its first head in the group
  let tile = tiles[workgroup.z];
  let first_row = tile.first_row;
  let row_count = tile.rows;
  let first_position = rows[first_row].position;
  let slot = rows[first_row].slot;
  let seen = seen_by_tile(tile, first_position);
  let begin = seen.x + split * params.split;
  let end = min(begin + params.split, seen.y);

  for (var i = thread; i < QUERIES * QUADS; i += WORKGROUP) {
    let query = i / QUADS;
    let row = min(query / CHUNK, row_count - 1u);
    let head = kv_head * GROUP + min(chunk + query % CHUNK, GROUP - 1u);
    let at = ((first_row + row) * params.stride + params.first) / 4u + head * QUADS + i % QUADS;
    queries[i] = query4(at, first_position + row);
  }
  for (var i = thread; i < QUERIES; i += WORKGROUP) {
    maximum[i] = LOWEST;
    total[i] = 0.0;
  }
  // Weighted values: LANES invocations share the columns of a query, ROWS queries go side by side,
  // and an invocation owns column `column` and every WORKGROUP-th after it of every ROWS-th query.
  let column = thread % LANES;
  let first_query = thread / LANES;
  #for i in 0..ITEMS
  let query$i = min(first_query + u32($i) * ROWS, QUERIES - 1u);
  #end
  #for c in 0..COLUMNS
  let column$c = min(column + u32($c) * WORKGROUP, VALUE_QUADS - 1u);
  #for i in 0..ITEMS
  var output$c_$i = vec4(0.0);
  #end
  #end
  workgroupBarrier();

  for (var base = begin; base < end; base += WORKGROUP) {
    let position = base + thread;
    let inside = position < end;
    let nearest = min(position, end - 1u);
    let block = table[slot * params.max_blocks + nearest / BLOCK];
    let cached = cached_head(block, kv_head, params.kv_heads, nearest);
    let at = cached * QUADS;
    #if SHARED_VALUES
    value_at[thread] = at;
    #else
    value_at[thread] = cached * VALUE_QUADS;
    #end
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
    {
      let query = first_position + u32($m) / CHUNK;
      let sees = inside && first_seen(query) <= position && position < after_seen(query, end, tile.image_end);
      let head = kv_head * GROUP + min(chunk + u32($m) % CHUNK, GROUP - 1u);
      let logit = logit_of(score$m, head, query, position);
      scores[u32($m) * WORKGROUP + thread] = select(LOWEST, logit, sees);
    }
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
          // Not the other way around: a score that is NaN has to be seen in the result.
          let weight = select(exp(score - peak), 0.0, score <= LOWEST);
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

    #for i in 0..ITEMS
    let correction$i = correction[query$i];
    #end
    #for c in 0..COLUMNS
    #for i in 0..ITEMS
    output$c_$i *= correction$i;
    #end
    #end
    let count = min(end - base, WORKGROUP);
    for (var j = 0u; j < count; j++) {
      #for c in 0..COLUMNS
      let value$c = value4(value_at[j] + column$c);
      #for i in 0..ITEMS
      output$c_$i += scores[query$i * WORKGROUP + j] * value$c;
      #end
      #end
    }
    workgroupBarrier();
  }

  let heads = params.kv_heads * GROUP;
  #for i in 0..ITEMS
  {
    let query = first_query + u32($i) * ROWS;
    let row = query / CHUNK;
    let head = chunk + query % CHUNK;
    if (first_query < ROWS && query < QUERIES && row < row_count && head < GROUP) {
      let result = (first_row + row) * heads + kv_head * GROUP + head;
      let at = (result * params.max_splits + split) * (1u + VALUE_QUADS);
      if (column == 0u) {
        partials[at] = vec4(maximum[query], total[query], 0.0, 0.0);
      }
      #for c in 0..COLUMNS
      if (column + u32($c) * WORKGROUP < VALUE_QUADS) {
        partials[at + 1u + column + u32($c) * WORKGROUP] = output$c_$i;
      }
      #end
    }
  }
  #end
}
