// Looks up a row of a table for each row of a step: x = scale * table[token], one workgroup per row.
// RESOLVE: first turns each row of the plan into a row of the step. A row that decodes takes its token
// and position from its slot, where the sampler left them, so that decoding does not wait for the
// host. The token is also appended to the sequence's history.
// BY_POSITION: x = scale * table[position] (learned positions). ADD: x += instead of x =. STAND_IN: a
// row of an image, which has no token, reads the table's first row.
// The table may be one part of a large one: tokens whose rows are in other parts are left alone.
struct Params {
  groups: u32,   // groups of 32 columns
  first: u32,    // number of the table's first row
  rows: u32,     // rows of this table
  context: u32,  // positions per slot in history
  scale: f32,
}
@group(0) @binding(0) var<uniform> params: Params;
#if RESOLVE
@group(0) @binding(1) var<storage, read> plan: array<PlanRow>;            // [rows]
@group(0) @binding(2) var<storage, read> slots: array<SlotToken>;         // [slots]
@group(0) @binding(3) var<storage, read_write> rows: array<StepRow>;      // [rows]
@group(0) @binding(4) var<storage, read_write> history: array<u32>;      // [slots, context]
#else
@group(0) @binding(3) var<storage, read> rows: array<StepRow>;             // [rows]
#end
@group(0) @binding(5) var<storage, read_write> x: array<vec4<f32>>;      // [rows, groups, 8]

fn store(at: u32, value: vec4<f32>) {
  #if ADD
  x[at] += value;
  #else
  x[at] = value;
  #end
}

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let row = workgroup.x;
  #if RESOLVE
  let planned = plan[row];
  var entry: StepRow;
  entry.token = planned.token;
  entry.position = planned.position;
  entry.slot = planned.slot;
  if (planned.in_slot == 1u) {
    let last = slots[planned.slot];
    entry.token = last.token;
    entry.position = last.position;
  }
  entry.time = entry.position - planned.time_delta;
  entry.height = entry.position - planned.height_delta;
  entry.width = entry.position - planned.width_delta;
  if (thread == 0u) {
    rows[row] = entry;
    if (entry.position < params.context) {
      history[entry.slot * params.context + entry.position] = entry.token;
    }
  }
  #else
  let entry = rows[row];
  #end
  #if BY_POSITION
  let wanted = entry.position;
  #else
  var wanted = entry.token;
  #if STAND_IN
  wanted = select(wanted, 0u, wanted >= MEDIA_TOKEN);
  #end
  #end
  if (wanted < params.first || wanted - params.first >= params.rows) {
    return;
  }
  let from_group = (wanted - params.first) * params.groups;
  for (var group = thread; group < params.groups; group += WORKGROUP) {
    let at = (row * params.groups + group) * 8u;
    #if FLOAT_WEIGHTS
    #for j in 0..8
    store(at + $j, params.scale * load_floats((from_group + group) * 8u + $j));
    #end
    #else
    let w = load_group(from_group + group);
    #for j in 0..4
    store(at + $j, params.scale * (w.scale.x * vec4<f32>(unpack4xI8(w.low[$j])) + w.minimum.x));
    store(at + 4u + $j, params.scale * (w.scale.y * vec4<f32>(unpack4xI8(w.high[$j])) + w.minimum.y));
    #end
    #end
  }
}
