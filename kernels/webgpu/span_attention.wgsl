// Attention of each row to a span of rows, by an online softmax (Milakov and Gimelshein 2018), one
// workgroup for each row and head: an invocation computes the score of one key of a tile, and then its
// columns of the values. POSITIONS: a second query times the table's row of the distance is added to a
// score (kernels/ops/spans.ts tells the order of the distances). SOFTCAP: scores are capped.
struct Params {
  head_dim: u32,
  value_dim: u32,
  query_first: u32,   // column of the first head
  query_stride: u32,  // floats in a row
  key_first: u32,
  key_stride: u32,
  value_first: u32,
  value_stride: u32,
  stride: u32,        // floats in a row of y
  scale: f32,
  softcap: f32,
  #if POSITIONS
  position_first: u32,
  position_stride: u32,
  table_stride: u32,
  #end
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> spans: array<vec2<u32>>;      // [rows] (first, end)
@group(0) @binding(2) var<storage, read> queries: array<f32>;          // [rows, query_stride]
@group(0) @binding(3) var<storage, read> keys: array<f32>;
@group(0) @binding(4) var<storage, read> values: array<f32>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;          // [rows, stride]
#if POSITIONS
@group(0) @binding(6) var<storage, read> position_queries: array<f32>; // [rows, position_stride]
@group(0) @binding(7) var<storage, read> table: array<f32>;            // [distances, table_stride]
#end

const LOWEST = -3e38;

var<workgroup> scores: array<f32, WORKGROUP>;

fn score_of(row: u32, head: u32, key: u32) -> f32 {
  let at = head * params.head_dim;
  let query = row * params.query_stride + params.query_first + at;
  let own_key = key * params.key_stride + params.key_first + at;
  var sum = 0.0;
  for (var i = 0u; i < params.head_dim; i++) {
    sum += queries[query + i] * keys[own_key + i];
  }
  #if POSITIONS
  let distance = i32(row) - i32(key);
  let number = u32(select(-2 * distance, 2 * distance - 1, distance > 0));
  let own = row * params.position_stride + params.position_first + at;
  let entry = number * params.table_stride + at;
  for (var i = 0u; i < params.head_dim; i++) {
    sum += position_queries[own + i] * table[entry + i];
  }
  #end
  let score = sum * params.scale;
  #if SOFTCAP
  return soft_capped(score, params.softcap);
  #else
  return score;
  #end
}

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let row = workgroup.x;
  let head = workgroup.y;
  let span = spans[row];
  var sums: array<f32, COLUMNS>;
  var peak = LOWEST;
  var total = 0.0;
  for (var tile = span.x; tile < span.y; tile += WORKGROUP) {
    let count = min(WORKGROUP, span.y - tile);
    var score = LOWEST;
    if (thread < count) {
      score = score_of(row, head, tile + thread);
    }
    scores[thread] = score;
    workgroupBarrier();
    var highest = peak;
    for (var i = 0u; i < count; i++) {
      highest = max(highest, scores[i]);
    }
    workgroupBarrier();
    scores[thread] = select(0.0, exponential(score - highest), thread < count);
    workgroupBarrier();
    let correction = exp(peak - highest);
    peak = highest;
    total *= correction;
    for (var i = 0u; i < count; i++) {
      total += scores[i];
    }
    for (var j = 0u; j < COLUMNS; j++) {
      let column = thread + j * WORKGROUP;
      if (column < params.value_dim) {
        var value = tile * params.value_stride + params.value_first + head * params.value_dim + column;
        var sum = sums[j] * correction;
        for (var i = 0u; i < count; i++) {
          sum += scores[i] * values[value];
          value += params.value_stride;
        }
        sums[j] = sum;
      }
    }
    workgroupBarrier();
  }
  // An empty span has no total; a NaN stays one.
  let share = select(1.0 / total, 0.0, total == 0.0);
  for (var j = 0u; j < COLUMNS; j++) {
    let column = thread + j * WORKGROUP;
    if (column < params.value_dim) {
      y[row * params.stride + head * params.value_dim + column] = sums[j] * share;
    }
  }
}
