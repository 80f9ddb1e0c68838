// y = x W^T for many tokens (prefill on a GPU): tiles of 64 rows by 64 tokens, staged in workgroup
// memory, 4 by 4 outputs in the registers of each of 256 invocations. Each step takes GROUPS groups
// of 32 columns. Same bindings, epilogue and meaning of SIDES as linear.wgsl; with two sides a tile
// is 32 gate rows and the 32 up rows that belong to them. Grid: x over row tiles, y over token tiles.
// The last token tile may reach past the buffers: reads there are harmless, writes are left out.
// Staged vectors lie [half or quarter of a group][row], so that neighbours read without conflicts.

const TILE = 64u;
const TILE_ROWS = TILE / SIDES;   // rows of each side
#if INTEGER
const VECTORS = 2u;               // staged vectors per group
var<workgroup> w_tile: array<vec4<u32>, GROUPS * VECTORS * TILE>;
var<workgroup> x_tile: array<vec4<u32>, GROUPS * VECTORS * TILE>;
var<workgroup> w_scale: array<vec4<f32>, GROUPS * TILE>;   // scale and minimum of each half
var<workgroup> x_scale: array<vec4<f32>, GROUPS * TILE>;
#else
const VECTORS = 8u;
var<workgroup> w_tile: array<vec4<f32>, GROUPS * VECTORS * TILE>;
var<workgroup> x_tile: array<vec4<f32>, GROUPS * VECTORS * TILE>;
#end
#if QUANTIZED_OUTPUT
var<workgroup> results: array<f32, TILE * TILE_ROWS>;  // [tokens, rows]
#end

// Row of w that row `i` of the tile holds; tiles past the end repeat the last row.
fn row_of(tile: u32, i: u32) -> u32 {
  return min(tile * TILE_ROWS + i % TILE_ROWS, params.rows - 1u) + i / TILE_ROWS * params.rows;
}

fn stage(tile: u32, first_token: u32, first_group: u32, thread: u32) {
  let i = thread % TILE;
  let step = thread / TILE % 2u;
  let group = min(first_group + step, params.groups - 1u);
  let inside = first_group + step < params.groups;
  if (step >= GROUPS) {
    return;
  }
  if (thread < 2u * TILE) {
    let at = row_of(tile, i) * params.groups + group;
    let to = step * VECTORS * TILE + i;
    #if FLOAT_WEIGHTS
    #for j in 0..8
    w_tile[to + $j * TILE] = select(vec4(0.0), load_floats(at * 8u + $j), inside);
    #end
    #else
    let w = load_group(at);
    #if INTEGER
    w_tile[to] = w.low;
    w_tile[to + TILE] = w.high;
    w_scale[step * TILE + i] = select(vec4(0.0), vec4(w.scale, w.minimum), inside);
    #else
    let scale = select(vec2(0.0), w.scale, inside);
    let minimum = select(vec2(0.0), w.minimum, inside);
    #for j in 0..4
    w_tile[to + $j * TILE] = scale.x * vec4<f32>(unpack4xI8(w.low[$j])) + minimum.x;
    w_tile[to + ($j + 4u) * TILE] = scale.y * vec4<f32>(unpack4xI8(w.high[$j])) + minimum.y;
    #end
    #end
    #end
  } else {
    let at = (first_token + i) * params.groups + group;
    let to = step * VECTORS * TILE + i;
    #if INTEGER
    x_tile[to] = x_quants[2u * at];
    x_tile[to + TILE] = x_quants[2u * at + 1u];
    x_scale[step * TILE + i] = x_scales[at];
    #else
    #for j in 0..8
    x_tile[to + $j * TILE] = x[8u * at + $j];
    #end
    #end
  }
}

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let tile = workgroup.x + workgroup.z * workgroups.x;
  let first_token = workgroup.y * TILE;
  let row = thread % 16u;
  let column = thread / 16u;
  #for r in 0..4
  #for c in 0..4
  var sum$r_$c = 0.0;
  #end
  #end

  for (var group = 0u; group < params.groups; group += GROUPS) {
    stage(tile, first_token, group, thread);
    workgroupBarrier();
    #for g in 0..GROUPS
    #if INTEGER
    {
      #for r in 0..4
      let low$r = w_tile[$g * VECTORS * TILE + row + 16u * $r];
      let high$r = w_tile[$g * VECTORS * TILE + TILE + row + 16u * $r];
      let scale$r = w_scale[$g * TILE + row + 16u * $r];
      #end
      #for c in 0..4
      {
        let low = x_tile[$g * VECTORS * TILE + column + 16u * $c];
        let high = x_tile[$g * VECTORS * TILE + TILE + column + 16u * $c];
        let scales = x_scale[$g * TILE + column + 16u * $c];
        #for r in 0..4
        #if UNIFORM_GROUP
        sum$r_$c += (scale$r.x * scales.x) * f32(dot16(low$r, low) + dot16(high$r, high));
        #else
        sum$r_$c += scales.x *
          (scale$r.x * f32(dot16(low$r, low)) + scale$r.y * f32(dot16(high$r, high)));
        #end
        #if HAS_MINIMUM
        sum$r_$c += dot(scale$r.zw, scales.yz);
        #end
        #end
      }
      #end
    }
    #else
    #for j in 0..8
    {
      #for r in 0..4
      let w$r = w_tile[($g * VECTORS + $j) * TILE + row + 16u * $r];
      #end
      #for c in 0..4
      let x$c = x_tile[($g * VECTORS + $j) * TILE + column + 16u * $c];
      #for r in 0..4
      sum$r_$c += dot(w$r, x$c);
      #end
      #end
    }
    #end
    #end
    #end
    workgroupBarrier();
  }

  #for r in 0..4
  #if AFFINE
  let affine$r = affine[row_of(tile, row + 16u * $r)];
  #for c in 0..4
  sum$r_$c = sum$r_$c * affine$r.x + affine$r.y;
  #end
  #end
  #end
  #if PAIRED
  #for c in 0..4
  sum0_$c = silu(sum0_$c) * sum2_$c;
  sum1_$c = silu(sum1_$c) * sum3_$c;
  #end
  #end
  #for r in 0..OUTPUT_ROWS
  {
    let output = tile * TILE_ROWS + row + 16u * $r;
    #for c in 0..4
    #if QUANTIZED_OUTPUT
    results[(column + 16u * $c) * TILE_ROWS + row + 16u * $r] =
      select(0.0, sum$r_$c, output < params.rows);
    #else
    if (output < params.rows && first_token + column + 16u * $c < arrayLength(&y) / params.stride) {
      let at = (first_token + column + 16u * $c) * params.stride + params.first + output;
      #if ACCUMULATE
      y[at] += sum$r_$c;
      #else
      y[at] = sum$r_$c;
      #end
    }
    #end
    #end
  }
  #end

  #if QUANTIZED_OUTPUT
  workgroupBarrier();
  if (thread < TILE && first_token + thread < arrayLength(&y_scales) * 32u / params.stride) {
    let start = thread * TILE_ROWS;
    let quantized = quantize_results(start);
    let at = ((first_token + thread) * params.stride + params.first + tile * TILE_ROWS) / 32u;
    y_quants[2u * at] = quantized.low;
    y_quants[2u * at + 1u] = quantized.high;
    y_scales[at] = quantized.scales;
  }
  #end
}
