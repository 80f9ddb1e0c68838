// What linear.wgsl and matmul.wgsl share: the bindings of y = x W^T and the pieces of its epilogue.
// INTEGER: x is int8 groups. AFFINE: each row of w has a scale and a bias. QUANTIZED_OUTPUT: y is
// int8 groups. GATHER: w is a stack of matrices, the experts, and a "token" is a pair of a row of x and
// one of the experts chosen for it; EVERY: these are all, in order. The planes of w, which its
// format defines, begin at binding 8.
// NORM: besides y, f32, the product writes y times the weights of an RMSNorm, and the sum of squares of
// each 32 columns of y: as int8 groups, or with FLOAT_NORM as f32, where the sums come after all rows.
// DEFERRED_NORM: x may be that, whose results are divided by the root mean square here. Rows that are whole
// have sums of zero.
// JOINED: one kernel computes several products of the same x, each with declarations of its own (see
// stacked_linear.ts); those that are FURTHER share x, y and affine with the first.
struct Params {
  rows: u32,        // outputs; GATHER: of one expert
  groups: u32,      // groups of 32 columns in a row of weights
  first: u32,       // column of y that the first output goes to
  stride: u32,      // columns of y
  #if GATHER
  share: u32,          // pairs that read the same row of x
  experts: u32,        // in the bound part of w
  first_expert: u32,   // the first of these
  all_experts: u32,    // in all parts
  #end
  #if JOINED
  tiles: u32,          // of rows
  #end
  #if DEFERRED_NORM
  columns: u32,        // of x, without padding
  epsilon: f32,
  #if !INTEGER
  squares: u32,        // quad of x at which sums of squares begin
  #end
  #end
  #if FLOAT_NORM
  normed_squares: u32,  // float of what is normed at which sums of squares begin
  #end
}
@group(0) @binding(0) var<uniform> params: Params;
#if !FURTHER
#if INTEGER
@group(0) @binding(1) var<storage, read> x: array<vec4<u32>>;         // [tokens, groups, 3], QuantizedGroup
#else
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;         // [tokens, groups, 8]
#end
#if AFFINE
@group(0) @binding(3) var<storage, read> affine: array<vec2<f32>>;    // [rows of w] (scale, bias)
#end
#if FLOAT_OUTPUT
@group(0) @binding(4) var<storage, read_write> y: array<f32>;         // [tokens, stride]
#end
#if QUANTIZED_OUTPUT
@group(0) @binding(5) var<storage, read_write> groups: array<QuantizedGroup>;  // [tokens, stride / 32]
#end
#if FLOAT_NORM
@group(0) @binding(5) var<storage, read_write> normed: array<f32>;    // [tokens, stride], then squares
@group(0) @binding(7) var<storage, read> norm_weight: array<f32>;     // [stride]
#else
#if NORM
@group(0) @binding(7) var<storage, read> norm_weight: array<vec4<f32>>;  // [stride / 4]
#end
#end
#end

// The tokens of the COLS columns of a tile. NONE: the column is idle.
const NONE = 0xffffffffu;
#if GATHER
#if !EVERY
#if GROUPED
@group(0) @binding(6) var<storage, read> pair_tiles: array<u32>;            // see expert_pairs.wgsl
#else
@group(0) @binding(6) var<storage, read> ids: array<u32>;             // [pairs] experts
#end
#end
#end

fn token_of(tile: u32, column: u32) -> u32 {
  #if !GATHER
  return tile * COLS + column;
  #else
  #if EVERY
  let row = tile / params.all_experts * COLS + column;
  return row * params.all_experts + tile % params.all_experts;
  #else
  #if GROUPED
  return pair_tiles[tile * (COLS + 1u) + 1u + column];
  #else
  return tile;
  #end
  #end
  #end
}

// The row of x that a token reads.
fn input_of(token: u32) -> u32 {
  #if GATHER
  return token / params.share;
  #else
  return token;
  #end
}

#if GATHER
// The expert of a tile, counted from the first one of the bound part of w. It is params.experts or more
// if the expert is in another part, or the tile is empty.
fn expert_of(tile: u32) -> u32 {
  #if EVERY
  return tile % params.all_experts - params.first_expert;
  #else
  #if GROUPED
  return pair_tiles[tile * (COLS + 1u)] - params.first_expert;
  #else
  return ids[tile] - params.first_expert;
  #end
  #end
}
#end

// A row of a side of w; rows past the end repeat the last one.
fn weight_row(expert: u32, side: u32, row: u32) -> u32 {
  #if GATHER
  return (side * params.experts + expert) * params.rows + min(row, params.rows - 1u);
  #else
  return side * params.rows + min(row, params.rows - 1u);
  #end
}

#if AFFINE
// The scale and bias of a row. Joined products have theirs in the order of y.
fn affine_of(row: u32) -> vec2<f32> {
  #if JOINED
  return affine[params.first + row];
  #else
  return affine[row];
  #end
}
#end

#if DEFERRED_NORM
// The factor that x lacks, by the sum of the squares of its groups.
fn deferred_scale(squares: f32) -> f32 {
  let scale = inverseSqrt(squares / f32(params.columns) + params.epsilon);
  return select(scale, 1.0, squares == 0.0);
}
#end

#if INTEGER
// One product after the other: each adds to the one before it.
fn dot16(sum: i32, a: vec4<u32>, b: vec4<u32>) -> i32 {
  return sum + dot4I8Packed(a.x, b.x) + dot4I8Packed(a.y, b.y) + dot4I8Packed(a.z, b.z) +
    dot4I8Packed(a.w, b.w);
}
#end

#if QUANTIZED_OUTPUT
// The outputs of a workgroup before they are quantized. Each kernel sets OUTPUTS and WORKGROUP.
const_assert OUTPUTS % 32u == 0u;
var<workgroup> results: array<f32, COLS * OUTPUTS>;  // [tokens, outputs]

fn result4(at: u32) -> vec4<f32> {
  return vec4(results[at], results[at + 1u], results[at + 2u], results[at + 3u]);
}

fn write_groups(token_tile: u32, row_tile: u32, thread: u32) {
  for (var job = thread; job < COLS * OUTPUTS / 32u; job += WORKGROUP) {
    let start = job * 32u;
    let output = row_tile * OUTPUTS + start % OUTPUTS;
    let token = token_of(token_tile, start / OUTPUTS);
    if (output < params.rows && token < arrayLength(&groups) * 32u / params.stride) {
      #for j in 0..8
      var y$j = result4(start + 4u * $j);
      #end
      #if NORM
      var squares = 0.0;
      let column = (params.first + output) / 4u;
      #for j in 0..8
      squares += dot(y$j, y$j);
      y$j *= norm_weight[column + $j];
      #end
      #end
      var group = quantize_group(y0, y1, y2, y3, y4, y5, y6, y7);
      #if NORM
      group.scales.w = squares;
      #end
      groups[(token * params.stride + params.first + output) / 32u] = group;
    }
  }
}
#end
