// softmax(q k^T * scale) v over the paged KV cache, with grouped query heads: the one line that
// computes attention scores is marked below. Online softmax over tiles of POSITIONS positions
// (Milakov and Gimelshein 2018; Dao et al. 2022). One workgroup per (split, chunk of the query heads
// of a KV head, query tile): a query tile is up to TILE consecutive rows of one sequence (one row in
// decode), each with CHUNK of the GROUP query heads, so QUERIES = TILE * CHUNK vectors share each
// key and value that is read. SHARES invocations read the same key, each for a share of the queries: more
// of them need fewer registers each. A split is `params.split` of the positions that the tile sees, see
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
@group(0) @binding(5) var<storage, read> keys: array<CachedKeys>;
#if !SHARED_VALUES
@group(0) @binding(6) var<storage, read> values: array<CachedValues>;
#end
// [rows, heads, max_splits, 1 + VALUE_QUADS]: (maximum, sum, _, _), then the unnormalized output.
@group(0) @binding(7) var<storage, read_write> partials: array<vec4<f32>>;
#if ALIBI
@group(0) @binding(8) var<storage, read> slopes: array<f32>;         // [heads]
#end

const QUERIES = TILE * CHUNK;
const ABREAST = WORKGROUP / SHARES;   // invocations with different keys
const POSITIONS = KEYS * ABREAST;
const QUADS = HEAD_DIM / 4u;        // vec4 in a head of queries and keys
const VALUE_QUADS = VALUE_DIM / 4u; // vec4 in a head of values
const KEY_LOADS = QUADS / EACH;
const VALUE_LOADS = VALUE_QUADS / EACH;
const PARTS = 8u;                   // invocations that share the softmax of one query
const LOWEST = -3.0e38;
const_assert HEAD_DIM % (4u * EACH) == 0u && VALUE_DIM % (4u * EACH) == 0u;
const_assert QUERIES == SHARES * SHARE_QUERIES;
const_assert WORKGROUP % PARTS == 0u && LANES * ROWS <= WORKGROUP;
const_assert ITEMS * QUERY_ROWS >= QUERIES && COLUMNS * WORKGROUP >= VALUE_LOADS;
const_assert KEY_LOADS % KEY_UNROLL == 0u && POSITIONS % VALUE_UNROLL == 0u;
const_assert STRIDE >= QUERIES;

// Robustness: the compiler clamps each index to its array, which costs nothing for constants. So the
// number of a query in its share, which is a constant, is the innermost dimension.
var<workgroup> queries: array<array<array<vec4<f32>, SHARE_QUERIES>, SHARES>, QUADS>;
var<workgroup> scores: array<f32, STRIDE * POSITIONS>;  // see score_at()
var<workgroup> value_at: array<u32, POSITIONS>;
var<workgroup> part: array<f32, WORKGROUP>;
var<workgroup> maximum: array<f32, QUERIES>;
var<workgroup> total: array<f32, QUERIES>;
var<workgroup> correction: array<f32, QUERIES>;

// The scores of one position lie side by side where an invocation takes several of them at a time. The
// scores of one query lie side by side where neighbouring invocations take neighbouring positions.
fn score_at(position: u32, query: u32) -> u32 {
  #if SCORES_BY_POSITION
  return position * STRIDE + query;
  #else
  return query * POSITIONS + position;
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
  logit = soft_capped(logit, params.softcap);
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

  #if LEAVES_EARLY
  if (begin >= end) {
    return; // The tile sees fewer positions than others of this dispatch.
  }
  #end

  for (var i = thread; i < QUERIES * QUADS; i += WORKGROUP) {
    let query = i / QUADS;
    let row = min(query / CHUNK, row_count - 1u);
    let head = kv_head * GROUP + min(chunk + query % CHUNK, GROUP - 1u);
    let at = ((first_row + row) * params.stride + params.first) / 4u + head * QUADS + i % QUADS;
    queries[i % QUADS][query / SHARE_QUERIES][query % SHARE_QUERIES] = query4(at, first_position + row);
  }
  for (var i = thread; i < QUERIES; i += WORKGROUP) {
    maximum[i] = LOWEST;
    total[i] = 0.0;
  }
  // Weighted values: LANES invocations, a team, share the columns of a value, and ROWS teams work side
  // by side. With POSITION_TEAMS each team takes a part of the positions for all queries, and the
  // teams' sums are added up at the end. Otherwise each takes every ROWS-th query.
  let column = thread % LANES;
  let team = thread / LANES;
  #for i in 0..ITEMS
  #if POSITION_TEAMS
  const query$i: u32 = $i;
  #else
  let query$i = min(team + $i * ROWS, QUERIES - 1u);
  #end
  #end
  #for c in 0..COLUMNS
  let column$c = min(column + $c * WORKGROUP, VALUE_LOADS - 1u);
  #for i in 0..ITEMS
  #for e in 0..EACH
  var output$c_$i_$e = vec4(0.0);
  #end
  #end
  #end
  workgroupBarrier();

  for (var base = begin; base < end; base += POSITIONS) {
    let place = thread % ABREAST;
    let share = thread / ABREAST;
    #for k in 0..KEYS
    let position$k = base + place + $k * ABREAST;
    let nearest$k = min(position$k, end - 1u);
    let block$k = table[slot * params.max_blocks + nearest$k / BLOCK];
    let cached$k = cached_head(block$k, kv_head, params.kv_heads, nearest$k);
    let key_at$k = key_start(cached$k);
    value_at[place + $k * ABREAST] = value_start(cached$k);
    #for m in 0..SHARE_QUERIES
    var score$m_$k = 0.0;
    #end
    #end
    // Several loads at a time, so that none is waited for alone.
    for (var j = 0u; j < KEY_LOADS; j += KEY_UNROLL) {
      #for u in 0..KEY_UNROLL
      #for k in 0..KEYS
      let packed$u_$k = load_key(key_at$k, j + $u);
      #end
      #end
      #for u in 0..KEY_UNROLL
      #for e in 0..EACH
      #for k in 0..KEYS
      let key$u_$e_$k = key_quad$e(packed$u_$k);
      #end
      let quad$u_$e = (j + $u) * EACH + $e;
      #for m in 0..SHARE_QUERIES
      {
        let query = queries[quad$u_$e][share][$m];
        #for k in 0..KEYS
        score$m_$k += dot(query, key$u_$e_$k);  // attention scores: q . k
        #end
      }
      #end
      #end
      #end
    }
    #for m in 0..SHARE_QUERIES
    {
      let m = share * SHARE_QUERIES + $m;
      let query = first_position + m / CHUNK;
      let head = kv_head * GROUP + min(chunk + m % CHUNK, GROUP - 1u);
      let seen_first = first_seen(query);
      let seen_end = after_seen(query, end, tile.image_end);
      #for k in 0..KEYS
      {
        let sees = position$k < end && seen_first <= position$k && position$k < seen_end;
        let logit = logit_of(score$m_$k, head, query, position$k);
        scores[score_at(place + $k * ABREAST, m)] = select(LOWEST, logit, sees);
      }
      #end
    }
    #end
    workgroupBarrier();

    // The running maximum and sum of each query, by PARTS invocations for each.
    for (var m0 = 0u; m0 < QUERIES; m0 += WORKGROUP / PARTS) {
      let m = min(m0 + thread / PARTS, QUERIES - 1u);
      let lane = thread % PARTS;
      var peak = LOWEST;
      for (var j = lane; j < POSITIONS; j += PARTS * SOFTMAX_UNROLL) {
        #for u in 0..SOFTMAX_UNROLL
        peak = max(peak, scores[score_at(j + $u * PARTS, m)]);
        #end
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
        // In this order of operands a score that is NaN shows in the result.
        for (var j = lane; j < POSITIONS; j += PARTS * SOFTMAX_UNROLL) {
          #for u in 0..SOFTMAX_UNROLL
          let score$u = scores[score_at(j + $u * PARTS, m)];
          let weight$u = select(exp(score$u - peak), 0.0, score$u <= LOWEST);
          scores[score_at(j + $u * PARTS, m)] = weight$u;
          sum += weight$u;
          #end
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
    #for e in 0..EACH
    output$c_$i_$e *= correction$i;
    #end
    #end
    #end
    // Past the last position, weights are 0 and the last value is read again.
    let count = min(end - base, POSITIONS);
    #if POSITION_TEAMS
    for (var j = team * VALUE_UNROLL; j < count; j += ROWS * VALUE_UNROLL) {
    #else
    for (var j = 0u; j < count; j += VALUE_UNROLL) {
    #end
      #for u in 0..VALUE_UNROLL
      #for c in 0..COLUMNS
      let packed$u_$c = load_value(value_at[j + $u], column$c);
      #end
      #end
      #for u in 0..VALUE_UNROLL
      #for c in 0..COLUMNS
      #for e in 0..EACH
      let value$u_$c_$e = value_quad$e(packed$u_$c);
      #end
      #end
      #for i in 0..ITEMS
      let weight$u_$i = scores[score_at(j + $u, query$i)];
      #for c in 0..COLUMNS
      #for e in 0..EACH
      output$c_$i_$e += weight$u_$i * value$u_$c_$e;
      #end
      #end
      #end
      #end
    }
    workgroupBarrier();
  }

  #if POSITION_TEAMS
  // Adds the sums of the other teams, one after the other, through the memory that held the queries.
  for (var other = 1u; other < ROWS; other++) {
    if (team == other) {
      #for i in 0..ITEMS
      #for e in 0..EACH
      queries[column0 * EACH + $e][0][$i] = output0_$i_$e;
      #end
      #end
    }
    workgroupBarrier();
    if (team == 0u) {
      #for i in 0..ITEMS
      #for e in 0..EACH
      output0_$i_$e += queries[column0 * EACH + $e][0][$i];
      #end
      #end
    }
    workgroupBarrier();
  }
  #end

  let heads = params.kv_heads * GROUP;
  #for i in 0..ITEMS
  {
    #if POSITION_TEAMS
    const query: u32 = $i;
    let is_mine = team == 0u;
    #else
    let query = team + $i * ROWS;
    let is_mine = team < ROWS && query < QUERIES;
    #end
    let row = query / CHUNK;
    let head = chunk + query % CHUNK;
    if (is_mine && row < row_count && head < GROUP) {
      let result = (first_row + row) * heads + kv_head * GROUP + head;
      let at = (result * params.max_splits + split) * (1u + VALUE_QUADS);
      if (column == 0u) {
        partials[at] = vec4(maximum[query], total[query], 0.0, 0.0);
      }
      #for c in 0..COLUMNS
      if (column + $c * WORKGROUP < VALUE_LOADS) {
        #for e in 0..EACH
        partials[at + 1u + (column + $c * WORKGROUP) * EACH + $e] = output$c_$i_$e;
        #end
      }
      #end
    }
  }
  #end
}
