// Joins the splits of attention.wgsl into its output [rows, heads, VALUE_DIM], as f32 or as int8
// groups of 32 for the output projection. A workgroup has HEADS heads of one row: as many as fill whole
// groups of 32 columns. It first computes the weight of each split, then its invocations share columns
// and splits. With GROUP_EACH, for a CPU, an invocation has a group of 32 columns of one row to itself.
// A sink (Xiao et al. 2023) is a logit of its head that takes weight and has no value.
struct Params {
  heads: u32,
  groups: u32,      // groups of 32 columns of the output, padding included
  split: u32,       // positions per split
  max_splits: u32,
  window: u32,      // positions in a window
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> rows: array<StepRow>;        // [rows]
@group(0) @binding(2) var<storage, read> tiles: array<QueryTile>;     // [tiles]
@group(0) @binding(3) var<storage, read> partials: array<vec4<f32>>; // see attention.wgsl
#if QUANTIZED_OUTPUT
@group(0) @binding(4) var<storage, read_write> y: array<QuantizedGroup>;
#else
@group(0) @binding(4) var<storage, read_write> y: array<vec4<f32>>;  // [rows, groups, 8]
#end
#if SINKS
@group(0) @binding(6) var<storage, read> sinks: array<f32>;          // [heads]
#end

const QUADS = VALUE_DIM / 4u;
#if GROUP_EACH
// The vec4 number `column` of a row whose sequence has `splits` splits.
fn merged(row: u32, column: u32, splits: u32) -> vec4<f32> {
  let head = column / QUADS;
  if (head >= params.heads) {
    return vec4(0.0);
  }
  let first = (row * params.heads + head) * params.max_splits * (1u + QUADS);
  var peak = partials[first].x;
  for (var s = 1u; s < splits; s++) {
    peak = max(peak, partials[first + s * (1u + QUADS)].x);
  }
  var total = 0.0;
  #if SINKS
  peak = max(peak, sinks[head]);
  total = exp(sinks[head] - peak);
  #end
  var sum = vec4(0.0);
  for (var s = 0u; s < splits; s++) {
    let at = first + s * (1u + QUADS);
    let weight = exp(partials[at].x - peak);
    total += weight * partials[at].y;
    sum += weight * partials[at + 1u + column % QUADS];
  }
  return sum / total;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let group = id.x;
  let tile = tiles[id.z];
  if (group >= params.groups || id.y >= tile.rows) {
    return;
  }
  let row = tile.first_row + id.y;
  // The splits of the tile, not of the row: a split in which the row attends to nothing has sum 0.
  let seen = seen_by_tile(tile, rows[tile.first_row].position);
  let splits = (seen.y - seen.x + params.split - 1u) / params.split;
  #for j in 0..8
  let x$j = merged(row, group * 8u + $j, splits);
  #end
  let at = row * params.groups + group;
  #if QUANTIZED_OUTPUT
  y[at] = quantize_group(x0, x1, x2, x3, x4, x5, x6, x7);
  #else
  #for j in 0..8
  y[at * 8u + $j] = x$j;
  #end
  #end
}
#else
const COLUMNS = HEADS * QUADS;                 // vec4 of a workgroup's output
const LOWEST = -3.0e38;
const_assert COLUMNS % 8u == 0u && LANES * TEAMS <= WORKGROUP && LANES <= COLUMNS && HEADS <= WORKGROUP && SHARE * WORKGROUP >= HEADS * SPLITS;

// For each head and split its maximum and the sum of its weights; later what they are relative to the
// maximum of all splits.
var<workgroup> weights: array<vec2<f32>, HEADS * SPLITS>;
var<workgroup> totals: array<f32, HEADS>;
var<workgroup> sums: array<vec4<f32>, TEAMS * COLUMNS>;

fn partial_of(row: u32, head: u32, split: u32) -> u32 {
  let known = min(head, params.heads - 1u);  // Past the last head is padding.
  return ((row * params.heads + known) * params.max_splits + split) * (1u + QUADS);
}

// The greatest logit of a head of the workgroup; `weights` still holds what was read.
fn peak_of(own: u32, head: u32, splits: u32) -> f32 {
  var peak = LOWEST;
  for (var s = 0u; s < splits; s++) {
    peak = max(peak, weights[own * SPLITS + s].x);
  }
  #if SINKS
  peak = max(peak, sinks[min(head, params.heads - 1u)]);
  #end
  return peak;
}

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let tile = tiles[workgroup.z];
  if (workgroup.y >= tile.rows) {
    return;
  }
  let row = tile.first_row + workgroup.y;
  let first_head = workgroup.x * HEADS;
  // The splits of the tile, not of the row: a split in which the row attends to nothing has sum 0.
  let seen = seen_by_tile(tile, rows[tile.first_row].position);
  let splits = min((seen.y - seen.x + params.split - 1u) / params.split, SPLITS);

  for (var i = thread; i < HEADS * splits; i += WORKGROUP) {
    let own = i / splits;
    let split = i % splits;
    weights[own * SPLITS + split] = partials[partial_of(row, first_head + own, split)].xy;
  }
  workgroupBarrier();
  // Each pair of a head and a split has an invocation, which has at most SHARE pairs.
  #for i in 0..SHARE
  let pair$i = thread + $i * WORKGROUP;
  let own$i = pair$i / splits;
  var weight$i = 0.0;
  if (pair$i < HEADS * splits) {
    let peak = peak_of(own$i, first_head + own$i, splits);
    weight$i = exp(weights[own$i * SPLITS + pair$i % splits].x - peak);
  }
  #end
  if (thread < HEADS) {
    #if SINKS
    let head = first_head + thread;
    let peak = peak_of(thread, head, splits);
    totals[thread] = exp(sinks[min(head, params.heads - 1u)] - peak);
    #else
    totals[thread] = 0.0;
    #end
  }
  workgroupBarrier();
  #for i in 0..SHARE
  if (pair$i < HEADS * splits) {
    let at = own$i * SPLITS + pair$i % splits;
    weights[at] = vec2(weight$i, weight$i * weights[at].y);
  }
  #end
  workgroupBarrier();
  if (thread < HEADS) {
    var total = totals[thread];
    for (var s = 0u; s < splits; s++) {
      total += weights[thread * SPLITS + s].y;
    }
    totals[thread] = total;
  }

  // LANES invocations share the columns; TEAMS of them take different splits.
  let lane = thread % LANES;
  let team = thread / LANES;
  if (team < TEAMS) {
    for (var column = lane; column < COLUMNS; column += LANES) {
      let own = column / QUADS;
      let at = partial_of(row, first_head + own, 0u) + 1u + column % QUADS;
      var sum = vec4(0.0);
      for (var split = team; split < splits; split += TEAMS * UNROLL) {
        #for u in 0..UNROLL
        let split$u = min(split + $u * TEAMS, splits - 1u);
        let value$u = partials[at + split$u * (1u + QUADS)];
        #end
        #for u in 0..UNROLL
        // select() and no branch: the compiler would move the loads into the branch, where each of
        // them is waited for.
        let weight$u = select(0.0, weights[own * SPLITS + split$u].x, split + $u * TEAMS < splits);
        sum += weight$u * value$u;
        #end
      }
      sums[team * COLUMNS + column] = sum;
    }
  }
  workgroupBarrier();

  for (var group = thread; group < COLUMNS / 8u; group += WORKGROUP) {
    var x: array<vec4<f32>, 8>;
    for (var j = 0u; j < 8u; j++) {
      let column = group * 8u + j;
      let own = column / QUADS;
      var sum = sums[column];
      for (var other = 1u; other < TEAMS; other++) {
        sum += sums[other * COLUMNS + column];
      }
      x[j] = select(vec4(0.0), sum / totals[own], first_head + own < params.heads);
    }
    let place = workgroup.x * (COLUMNS / 8u) + group;
    if (place < params.groups) {
      let at = row * params.groups + place;
      #if QUANTIZED_OUTPUT
      y[at] = quantize_group(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]);
      #else
      #for j in 0..8
      y[at * 8u + $j] = x[$j];
      #end
      #end
    }
  }
}
#end
