// y[token, row] = sum over k of x[token, k] * w[row, k], then scaled and biased per row.
// A team of LANES invocations splits the groups of 32 columns; it keeps ROWS rows and COLS tokens in
// registers. The partial sums of a team are added up by its subgroup (SUBGROUPS), or else by shuffles
// among SHUFFLED neighbours and then in workgroup memory. Grid: x over token tiles, y (then z) over row
// tiles. Activations are padded to whole token tiles with rows, and to whole groups with columns of
// zeros.
// SIDES = 2: w has two sides. Row i of the first is a gate, row i of the second an up projection, and
// y = f(gate) * up. The steps of multiply() are in files of their own, linear_*.wgsl.

const_assert WORKGROUP % LANES == 0u;
const OUTPUTS = ROWS * WORKGROUP / LANES;  // rows of w that a workgroup computes
#if SHARED
const SUMS = SIDES * ROWS * COLS;          // sums of a team
const PARTS = LANES / SHUFFLED;            // parts of a sum that are left after shuffles
const PLACES = WORKGROUP / SHUFFLED;       // parts of one sum of each of the teams, together
#if !FURTHER
var<workgroup> partials: array<f32, SUMS * PLACES>;
#if DEFERRED_NORM
// Sums of squares, which are the same for all teams: [tokens, PARTS].
var<workgroup> square_partials: array<f32, COLS * PARTS>;
#end
#end
#end

#if FLOAT_NORM
const TEAMS = WORKGROUP / LANES;
var<workgroup> team_squares: array<f32, COLS * TEAMS>;  // of each team's rows
#end

// Vectors of a group of x.
#if INTEGER
const X_VECTORS = 3u;
#else
const X_VECTORS = 8u;
#end

// Sums of products of codes, before they are scaled.
#if INTEGER
alias Products = i32;
#else
alias Products = f32;

// One product after the other, since a GPU adds and multiplies at once.
fn add_products(sum: f32, w: vec4<f32>, x: vec4<f32>) -> f32 {
  #if SOFTWARE
  return sum + dot(w, x);
  #else
  return sum + w.x * x.x + w.y * x.y + w.z * x.z + w.w * x.w;
  #end
}
#end

#if !FLOAT_WEIGHTS
// The codes of a half of a group.
fn codes_of(w: Group, half: u32) -> vec4<u32> {
  return select(w.high, w.low, half == 0u);
}

#if !INTEGER
// Four of them.
fn code_floats(w: Group, half: u32, quad: u32) -> vec4<f32> {
  let word = codes_of(w, half)[quad];
  #if UNSIGNED_CODES
  return vec4<f32>(unpack4xU8(word));
  #else
  return vec4<f32>(unpack4xI8(word));
  #end
}

fn weight_floats(w: Group, half: u32, quad: u32) -> vec4<f32> {
  return code_floats(w, half, quad) * w.scale[half] + w.minimum[half];
}
#end

// Adds a half of a group, or a whole one whose halves share a scale, to a sum: `products` of its codes
// and those of x, `total` the sum of x. Codes that are taken as they are stored are too large by
// CODE_BIAS.
fn add_scaled(
  sum: f32, w: Group, half: u32, x_scale: f32, products: f32, total: f32,
) -> f32 {
  #if RAW_CODES
  return sum + w.scale[half] * (x_scale * products - f32(CODE_BIAS) * total);
  #else
  #if HAS_MINIMUM
  return sum + (w.scale[half] * x_scale) * products + w.minimum[half] * total;
  #else
  return sum + (w.scale[half] * x_scale) * products;
  #end
  #end
}
#end

// The work of a workgroup for a tile of rows and one of tokens.
fn multiply(tile: u32, token_tile: u32, thread: u32) {
  let team = thread / LANES;
  let lane = thread % LANES;
  let first_row = (tile * (WORKGROUP / LANES) + team) * ROWS;
  #if GATHER
  let expert = expert_of(token_tile);
  if (expert >= params.experts) {
    return;
  }
  #else
  let expert = 0u;
  #end
  let groups = params.groups;

  #for s in 0..SIDES
  #for r in 0..ROWS
  let from_row$s_$r = weight_row(expert, $s, first_row + $r) * groups;
  #for c in 0..COLS
  var sum$s_$r_$c = 0.0;
  #end
  #end
  #end
  #for c in 0..COLS
  let token$c = token_of(token_tile, $c);
  let from$c = input_of(token$c) * groups * X_VECTORS;
  #if DEFERRED_NORM
  var squares$c = 0.0;
  #end
  #end

  #if FLOAT_WEIGHTS
  #insert floats
  #else
  #insert codes
  #end
  #insert sums
  #insert output
}

#if !FURTHER
@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  var tile = workgroup.y + workgroup.z * workgroups.y;
  // Tiles of joined products come before those of the first one.
  #for i in 1..PRODUCTS
  if (tile < params_$i.tiles) {
    multiply_$i(tile, workgroup.x, thread);
    return;
  }
  tile -= params_$i.tiles;
  #end
  multiply(tile, workgroup.x, thread);
}
#end
