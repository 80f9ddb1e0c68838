// Adds to the logits of some tokens of each output what its slot says: logit_bias, bans and the like.
// One workgroup per output; each token of a slot is there once, so invocations never meet.
struct Params {
  vocabulary: u32,
  stride: u32,       // words of a slot's list
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> logits: array<f32>;   // [outputs, vocabulary]
@group(0) @binding(2) var<storage, read> outputs: array<u32>;        // [outputs] row
@group(0) @binding(3) var<storage, read> rows: array<StepRow>;        // [rows]
@group(0) @binding(4) var<storage, read> biases: array<u32>;         // [slots, stride]: count, then pairs

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let list = rows[outputs[workgroup.x]].slot * params.stride;
  let count = biases[list];
  for (var i = thread; i < count; i += WORKGROUP) {
    let token = biases[list + 2u + 2u * i];
    if (token < params.vocabulary) {
      logits[workgroup.x * params.vocabulary + token] += bitcast<f32>(biases[list + 3u + 2u * i]);
    }
  }
}
