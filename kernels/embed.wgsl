// Begins a step: resolves each row of the plan (token, position, slot), notes the token in the
// sequence's history, and looks up its embedding. One workgroup per row. A row with flag 1 takes
// token and position from its slot, where the sampler left them, so that decoding needs no host.
// The table may be one part of several: rows of other parts are left alone.
struct Params {
  groups: u32,   // groups of 32 columns
  first: u32,    // token of the table's first row
  rows: u32,     // rows of this table
  context: u32,  // positions per slot in history
  scale: f32,
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> plan: array<vec4<u32>>;         // [rows] token, position, slot, flags
@group(0) @binding(2) var<storage, read> slots: array<vec2<u32>>;        // [slots] token, position
@group(0) @binding(3) var<storage, read_write> rows: array<vec4<u32>>;   // [rows] token, position, slot, 0
@group(0) @binding(4) var<storage, read_write> history: array<u32>;      // [slots, context]
@group(0) @binding(5) var<storage, read_write> x: array<vec4<f32>>;      // [rows, groups, 8]

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let row = workgroup.x;
  var entry = plan[row];
  if (entry.w == 1u) {
    let slot = slots[entry.z];
    entry = vec4(slot, entry.z, 0u);
  }
  if (thread == 0u) {
    rows[row] = entry;
    if (entry.y < params.context) {
      history[entry.z * params.context + entry.y] = entry.x;
    }
  }
  if (entry.x < params.first || entry.x - params.first >= params.rows) {
    return;
  }
  let from_group = (entry.x - params.first) * params.groups;
  for (var group = thread; group < params.groups; group += WORKGROUP) {
    let at = (row * params.groups + group) * 8u;
    #if FLOAT_WEIGHTS
    #for j in 0..8
    x[at + $j] = params.scale * load_floats((from_group + group) * 8u + $j);
    #end
    #else
    let w = load_group(from_group + group);
    #for j in 0..4
    x[at + $j] = params.scale * (w.scale.x * vec4<f32>(unpack4xI8(w.low[$j])) + w.minimum.x);
    x[at + 4u + $j] = params.scale * (w.scale.y * vec4<f32>(unpack4xI8(w.high[$j])) + w.minimum.y);
    #end
    #end
  }
}
