// y = x W^T for many tokens (prefill on a GPU): tiles of 64 rows by 64 tokens, staged in workgroup
// memory, 4 by 4 outputs in the registers of each of 256 invocations. Each step takes GROUPS groups
// of 32 columns. Same bindings, epilogue and meaning of SIDES as linear.wgsl; with two sides a tile
// is 32 gate rows and the 32 up rows that belong to them. Grid: x over row tiles, y over token tiles.
// The last token tile may reach past the buffers: reads there are harmless, writes are left out.
// So it is with idle columns.
// Staged vectors lie [half or quarter of a group][row], so that neighbours read without conflicts.

const WORKGROUP = 256u;
const TILE = 64u;
const OUTPUTS = TILE / SIDES;     // rows of each side
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

// Row of w that row `i` of the tile holds.
fn row_of(expert: u32, tile: u32, i: u32) -> u32 {
  return weight_row(expert, i / OUTPUTS, tile * OUTPUTS + i % OUTPUTS);
}

// Stages row `row` of w or of x, whichever is the thread's.
fn stage(row: u32, first_group: u32, thread: u32) {
  let i = thread % TILE;
  let step = thread / TILE % 2u;
  let group = min(first_group + step, params.groups - 1u);
  let inside = first_group + step < params.groups;
  if (step >= GROUPS) {
    return;
  }
  if (thread < 2u * TILE) {
    let at = row * params.groups + group;
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
    let at = row * params.groups + group;
    let to = step * VECTORS * TILE + i;
    #if INTEGER
    x_tile[to] = x[at].low;
    x_tile[to + TILE] = x[at].high;
    x_scale[step * TILE + i] = x[at].scales;
    #else
    #for j in 0..8
    x_tile[to + $j * TILE] = x[8u * at + $j];
    #end
    #end
  }
}

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let tile = workgroup.x + workgroup.z * workgroups.x;
  #if GATHER
  let expert = expert_of(workgroup.y);
  if (expert >= params.experts) {
    return;
  }
  #else
  let expert = 0u;
  #end
  let staged = thread % TILE;
  let staged_token = token_of(workgroup.y, staged);
  let staged_row =
    select(input_of(staged_token), row_of(expert, tile, staged), thread < 2u * TILE);
  let row = thread % 16u;
  let column = thread / 16u;
  #for r in 0..4
  #for c in 0..4
  var sum$r_$c = 0.0;
  #end
  #end

  for (var group = 0u; group < params.groups; group += GROUPS) {
    stage(staged_row, group, thread);
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
  let affine$r = affine[row_of(expert, tile, row + 16u * $r)];
  #for c in 0..4
  sum$r_$c = sum$r_$c * affine$r.x + affine$r.y;
  #end
  #end
  #end
  #if PAIRED
  #for c in 0..4
  sum0_$c = gate(sum0_$c, sum2_$c);
  sum1_$c = gate(sum1_$c, sum3_$c);
  #end
  #end
  #for c in 0..4
  let token$c = token_of(workgroup.y, column + 16u * $c);
  #end
  #for r in 0..OUTPUT_ROWS
  {
    let output = tile * OUTPUTS + row + 16u * $r;
    #for c in 0..4
    #if QUANTIZED_OUTPUT
    results[(column + 16u * $c) * OUTPUTS + row + 16u * $r] =
      select(0.0, sum$r_$c, output < params.rows);
    #else
    if (output < params.rows && token$c < arrayLength(&y) / params.stride) {
      let at = token$c * params.stride + params.first + output;
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
  write_groups(workgroup.y, tile, thread);
  #end
}
