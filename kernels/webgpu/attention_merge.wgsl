// Joins the splits of attention.wgsl into its output [rows, heads, VALUE_DIM], as f32 or as int8
// groups of 32 for the output projection. One invocation per group of 32 columns of one row.
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

// Output column `column` (in vec4) of a row whose sequence has `splits` splits.
fn merged(row: u32, column: u32, splits: u32) -> vec4<f32> {
  let head = column / QUADS;
  if (head >= params.heads) {
    return vec4(0.0);
  }
  let first = (row * params.heads + head) * params.max_splits * (1u + QUADS);
  var maximum = partials[first].x;
  for (var s = 1u; s < splits; s++) {
    maximum = max(maximum, partials[first + s * (1u + QUADS)].x);
  }
  var sum = 0.0;
  #if SINKS
  maximum = max(maximum, sinks[head]);
  sum = exp(sinks[head] - maximum);
  #end
  var value = vec4(0.0);
  for (var s = 0u; s < splits; s++) {
    let at = first + s * (1u + QUADS);
    let weight = exp(partials[at].x - maximum);
    sum += weight * partials[at].y;
    value += weight * partials[at + 1u + column % QUADS];
  }
  return value / sum;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let group = id.x;
  let tile = tiles[id.z];
  if (group >= params.groups || id.y >= tile.rows) {
    return;
  }
  let row = tile.first_row + id.y;
  // Splits of the tile, not of the row: a split of which the row sees nothing has sum 0.
  let seen = seen_by_tile(tile, rows[tile.first_row].position);
  let splits = (seen.y - seen.x + params.split - 1u) / params.split;
  // A loop, not eight copies of merged(): drivers would take several times as long to compile it.
  var x: array<vec4<f32>, 8>;
  for (var j = 0u; j < 8u; j++) {
    x[j] = merged(row, group * 8u + j, splits);
  }
  let at = row * params.groups + group;
  #if QUANTIZED_OUTPUT
  y[at] = quantize_group(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]);
  #else
  #for j in 0..8
  y[at * 8u + $j] = x[$j];
  #end
  #end
}
