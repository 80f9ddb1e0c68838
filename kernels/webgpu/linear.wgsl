// y[token, row] = sum over k of x[token, k] * w[row, k], then scaled and biased per row.
// A team of LANES invocations splits the groups of 32 columns; it keeps ROWS rows and COLS tokens in
// registers. The partial sums of a team are added up by its subgroup (SUBGROUPS), or else by shuffles
// among SHUFFLED neighbours and then in workgroup memory. Grid: x over token tiles, y (then z) over row
// tiles. Activations are padded to whole token tiles with rows, and to whole groups with columns of
// zeros.
// SIDES = 2: w has two sides. Row i of the first is a gate, row i of the second an up projection, and
// y = f(gate) * up.

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
  // Lanes read neighbouring quads, QUADS at a time; what is left at the end of a row one at a time.
  let quads = 8u * groups;
  #if WHOLE_TURNS
  for (var quad = 0u; quad < quads; quad += QUADS) {
  #else
  var quad = lane;
  for (; quad + (QUADS - 1u) * LANES < quads; quad += QUADS * LANES) {
  #end
    #if !SOFTWARE
    #for j in 0..QUADS
    #for s in 0..SIDES
    #for r in 0..ROWS
    let w$s_$r_$j = fetch_floats(8u * from_row$s_$r + quad + $j * LANES);
    #end
    #end
    #end
    #end
    #for j in 0..QUADS
    #for c in 0..COLS
    let x$c_$j = x[from$c + quad + $j * LANES];
    #end
    #for s in 0..SIDES
    #for r in 0..ROWS
    #if SOFTWARE
    let w$s_$r_$j = fetch_floats(8u * from_row$s_$r + quad + $j * LANES);
    #end
    #for c in 0..COLS
    sum$s_$r_$c = add_products(sum$s_$r_$c, unpack_floats(w$s_$r_$j), x$c_$j);
    #end
    #end
    #end
    #end
  }
  #if !WHOLE_TURNS
  for (; quad < quads; quad += LANES) {
    #for c in 0..COLS
    let x$c = x[from$c + quad];
    #end
    #for s in 0..SIDES
    #for r in 0..ROWS
    let w$s_$r = load_floats(8u * from_row$s_$r + quad);
    #for c in 0..COLS
    sum$s_$r_$c = add_products(sum$s_$r_$c, w$s_$r, x$c);
    #end
    #end
    #end
  }
  #end
  #else
  #if ADDED_PLACE
  var x_group = X_VECTORS * lane;
  #end
  for (var group = lane; group < groups; group += LANES) {
    #if !ADDED_PLACE
    let x_group = X_VECTORS * group;
    #end
    #for c in 0..COLS
    let at$c = from$c + x_group;
    #if INTEGER
    #if SIDES_APART
    let low$c = x[at$c];
    let high$c = x[at$c + 1u];
    #end
    let scales$c = bitcast<vec4<f32>>(x[at$c + 2u]);
    #if DEFERRED_NORM
    squares$c += scales$c.w;
    #end
    #end
    #end
    #for s in 0..SIDES
    #if !SOFTWARE
    #for r in 0..ROWS
    let packed$s_$r = fetch_group(from_row$s_$r + group);
    #end
    #end
    #for r in 0..ROWS
    #if SOFTWARE
    let packed$s_$r = fetch_group(from_row$s_$r + group);
    #end
    #if PART_OF_ROW
    let w$s_$r = unpack_group(packed$s_$r, group);
    #else
    let w$s_$r = unpack_group(packed$s_$r, from_row$s_$r + group);
    #end
    #if SIDES_APART
    #for c in 0..COLS
    #if UNIFORM_GROUP
    let products$s_$r_$c = dot16(dot16(0, w$s_$r.low, low$c), w$s_$r.high, high$c);
    sum$s_$r_$c = add_scaled(
      sum$s_$r_$c, w$s_$r, 0, scales$c.x, f32(products$s_$r_$c), scales$c.y + scales$c.z,
    );
    #else
    let first$s_$r_$c = f32(dot16(0, w$s_$r.low, low$c));
    let second$s_$r_$c = f32(dot16(0, w$s_$r.high, high$c));
    sum$s_$r_$c = add_scaled(sum$s_$r_$c, w$s_$r, 0, scales$c.x, first$s_$r_$c, scales$c.y);
    sum$s_$r_$c = add_scaled(sum$s_$r_$c, w$s_$r, 1, scales$c.x, second$s_$r_$c, scales$c.z);
    #end
    #end
    #end
    #end
    #end
    #if !SIDES_APART
    // One half after the other, so that x takes half the registers.
    #for c in 0..COLS
    #if !INTEGER
    var total$c = 0.0;
    #end
    #for s in 0..SIDES
    #for r in 0..ROWS
    var products$s_$r_$c = Products();
    #end
    #end
    #end
    #for h in 0..2
    #for t in 0..TURNS
    {
      #if INTEGER
      #for c in 0..COLS
      let x$c = x[at$c + $h];
      #for s in 0..SIDES
      #for r in 0..ROWS
      products$s_$r_$c = dot16(products$s_$r_$c, codes_of(w$s_$r, $h), x$c);
      #end
      #end
      #end
      #else
      #for j in 0..AT_ONCE
      #for c in 0..COLS
      let x$c_$j = x[at$c + 4u * $h + $t * AT_ONCE + $j];
      #end
      #end
      #for j in 0..AT_ONCE
      #if NEEDS_TOTAL
      #for c in 0..COLS
      total$c = add_products(total$c, vec4(1.0), x$c_$j);
      #end
      #end
      #for s in 0..SIDES
      #for r in 0..ROWS
      #if WHOLE_WEIGHTS
      let w$s_$r_$j = weight_floats(w$s_$r, $h, $t * AT_ONCE + $j);
      #for c in 0..COLS
      sum$s_$r_$c = add_products(sum$s_$r_$c, w$s_$r_$j, x$c_$j);
      #end
      #else
      let w$s_$r_$j = code_floats(w$s_$r, $h, $t * AT_ONCE + $j);
      #for c in 0..COLS
      products$s_$r_$c = add_products(products$s_$r_$c, w$s_$r_$j, x$c_$j);
      #end
      #end
      #end
      #end
      #end
      #end
    }
    #end
    #if ADD_HALVES
    #for c in 0..COLS
    #for s in 0..SIDES
    #for r in 0..ROWS
    #if INTEGER
    sum$s_$r_$c = add_scaled(
      sum$s_$r_$c, w$s_$r, $h, scales$c.x, f32(products$s_$r_$c), scales$c[1 + $h],
    );
    #else
    sum$s_$r_$c = add_scaled(sum$s_$r_$c, w$s_$r, $h, 1.0, products$s_$r_$c, total$c);
    #end
    products$s_$r_$c = Products();
    #end
    #end
    #if !INTEGER
    total$c = 0.0;
    #end
    #end
    #end
    #end
    #if ADD_GROUPS
    #for c in 0..COLS
    #for s in 0..SIDES
    #for r in 0..ROWS
    #if INTEGER
    sum$s_$r_$c = add_scaled(
      sum$s_$r_$c, w$s_$r, 0, scales$c.x, f32(products$s_$r_$c), scales$c.y + scales$c.z,
    );
    #else
    sum$s_$r_$c = add_scaled(sum$s_$r_$c, w$s_$r, 0, 1.0, products$s_$r_$c, total$c);
    #end
    #end
    #end
    #end
    #end
    #end
    #if ADDED_PLACE
    x_group += X_VECTORS * LANES;
    #end
  }
  #end

  #if DEFERRED_NORM
  #if !INTEGER
  let square_quads = (groups + 3u) / 4u;
  for (var quad = lane; quad < square_quads; quad += LANES) {
    #for c in 0..COLS
    squares$c += dot(x[params.squares + input_of(token$c) * square_quads + quad], vec4(1.0));
    #end
  }
  #end
  #end

  #for s in 0..SIDES
  #for r in 0..ROWS
  #for c in 0..COLS
  #if SUBGROUPS
  sum$s_$r_$c = subgroupAdd(sum$s_$r_$c);
  #end
  #if SHUFFLES
  #for k in 0..SHUFFLE_STEPS
  sum$s_$r_$c += subgroupShuffleXor(sum$s_$r_$c, 1u << u32($k));
  #end
  #end
  #end
  #end
  #end
  #if DEFERRED_NORM
  #for c in 0..COLS
  #if SUBGROUPS
  squares$c = subgroupAdd(squares$c);
  #end
  #if SHUFFLES
  #for k in 0..SHUFFLE_STEPS
  squares$c += subgroupShuffleXor(squares$c, 1u << u32($k));
  #end
  #end
  #end
  #end
  #if SHARED
  // Parts of sums lie side by side: [sums, teams, PARTS].
  let first_part = team * PARTS;
  if (lane % SHUFFLED == 0u) {
    let place = first_part + lane / SHUFFLED;
    #for s in 0..SIDES
    #for r in 0..ROWS
    #for c in 0..COLS
    partials[(($s * ROWS + $r) * COLS + $c) * PLACES + place] = sum$s_$r_$c;
    #end
    #end
    #end
    #if DEFERRED_NORM
    if (team == 0u) {
      #for c in 0..COLS
      square_partials[$c * PARTS + place] = squares$c;
      #end
    }
    #end
  }
  workgroupBarrier();
  #if TWO_STAGES
  // Each lane adds up a share of the parts of one sum; then one lane of each sum adds up its shares.
  const SHARES = LANES / SUMS;  // lanes that share one sum
  let own_sum = lane / SHARES * PLACES + first_part;
  let share = lane % SHARES;
  var share_sum = 0.0;
  for (var j = 0u; j < PARTS / SHARES; j++) {
    share_sum += partials[own_sum + share + j * SHARES];
  }
  workgroupBarrier();
  partials[own_sum + share] = share_sum;
  workgroupBarrier();
  const LEFT = SHARES;
  #else
  const LEFT = PARTS;
  #end
  for (var i = lane; i < SUMS; i += LANES) {
    let first = i * PLACES + first_part;
    var sum = 0.0;
    for (var j = 0u; j < LEFT; j++) {
      sum += partials[first + j];
    }
    partials[first] = sum;
  }
  #if DEFERRED_NORM
  for (var i = thread; i < COLS; i += WORKGROUP) {
    var sum = 0.0;
    for (var j = 0u; j < PARTS; j++) {
      sum += square_partials[i * PARTS + j];
    }
    square_partials[i * PARTS] = sum;
  }
  #end
  workgroupBarrier();
  #end

  if (lane == 0u) {
    #if DEFERRED_NORM
    #for c in 0..COLS
    #if SHARED
    squares$c = square_partials[$c * PARTS];
    #end
    let scale$c = deferred_scale(squares$c);
    #end
    #end
    #for s in 0..SIDES
    #for r in 0..ROWS
    #if AFFINE
    let affine$s_$r = affine_of(weight_row(expert, $s, first_row + $r));
    #end
    #for c in 0..COLS
    #if SHARED
    sum$s_$r_$c = partials[(($s * ROWS + $r) * COLS + $c) * PLACES + first_part];
    #end
    #if DEFERRED_NORM
    sum$s_$r_$c *= scale$c;
    #end
    #if AFFINE
    sum$s_$r_$c = sum$s_$r_$c * affine$s_$r.x + affine$s_$r.y;
    #end
    #end
    #end
    #end
    // All that is added to is read before any of it is written: a GPU that has written waits before it
    // reads on.
    #if FLOAT_NORM
    // Rows are whole groups of 32, so that a team has all of its rows or none.
    if (first_row < params.rows) {
      let column = params.first + first_row;
      #for r in 0..ROWS
      let weight$r = norm_weight[column + $r];
      #for c in 0..COLS
      let y$r_$c = y[token$c * params.stride + column + $r] + sum0_$r_$c;
      #end
      #end
      #for c in 0..COLS
      var own_squares$c = 0.0;
      #for r in 0..ROWS
      own_squares$c += y$r_$c * y$r_$c;
      #end
      team_squares[$c * TEAMS + team] = own_squares$c;
      #for r in 0..ROWS
      y[token$c * params.stride + column + $r] = y$r_$c;
      normed[token$c * params.stride + column + $r] = y$r_$c * weight$r;
      #end
      #end
    }
    #else
    #if ACCUMULATE
    #for r in 0..ROWS
    #for c in 0..COLS
    let before$r_$c = y[token$c * params.stride + params.first + first_row + $r];
    #end
    #end
    #end
    #for r in 0..ROWS
    #for c in 0..COLS
    #if PAIRED
    sum0_$r_$c = gate(sum0_$r_$c, sum1_$r_$c);
    #end
    #if ACCUMULATE
    sum0_$r_$c += before$r_$c;
    #end
    #if QUANTIZED_OUTPUT
    results[$c * OUTPUTS + team * ROWS + $r] = select(0.0, sum0_$r_$c, first_row + $r < params.rows);
    #end
    #if FLOAT_OUTPUT
    if (first_row + $r < params.rows && token$c != NONE) {
      let at = token$c * params.stride + params.first + first_row + $r;
      y[at] = sum0_$r_$c;
    }
    #end
    #end
    #end
    #end
  }

  #if QUANTIZED_OUTPUT
  workgroupBarrier();
  write_groups(token_tile, tile, thread);
  #end
  #if FLOAT_NORM
  workgroupBarrier();
  for (var group = thread; group < COLS * OUTPUTS / 32u; group += WORKGROUP) {
    let output = tile * OUTPUTS + group * 32u % OUTPUTS;
    var squares = 0.0;
    #for j in 0..GROUP_TEAMS
    squares += team_squares[group * GROUP_TEAMS + $j];
    #end
    if (output < params.rows) {
      let token = token_of(token_tile, group * 32u / OUTPUTS);
      let square_quads = (params.stride + 127u) / 128u;
      let at = params.normed_squares + token * 4u * square_quads;
      normed[at + (params.first + output) / 32u] = squares;
    }
  }
  #end
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
