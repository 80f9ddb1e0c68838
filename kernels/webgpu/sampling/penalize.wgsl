// Lowers the logits of tokens that are among the last `repeat_last_n` of their sequence.
// One workgroup per output. Invocations count the tokens in `counts`, which is zero before. Then the
// first invocation that takes a token's count sets it to zero again and applies the penalty, so a token
// that occurs several times is penalized once.
struct Params {
  vocabulary: u32,
  context: u32,      // columns of history
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> logits: array<f32>;          // [outputs, vocabulary]
@group(0) @binding(2) var<storage, read> outputs: array<u32>;               // [outputs] row
@group(0) @binding(3) var<storage, read> rows: array<StepRow>;               // [rows]
@group(0) @binding(4) var<storage, read> sampling: array<Sampling>;         // [slots]
@group(0) @binding(5) var<storage, read> history: array<u32>;               // [slots, context]
@group(0) @binding(6) var<storage, read_write> counts: array<atomic<u32>>;  // [outputs, vocabulary]

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let row = rows[outputs[workgroup.x]];
  let options = sampling[row.slot];
  let end = min(row.position + 1u, params.context);
  let begin = end - min(options.repeat_last_n, end);
  let base = workgroup.x * params.vocabulary;

  for (var position = begin + thread; position < end; position += WORKGROUP) {
    let token = history[row.slot * params.context + position];
    if (token < params.vocabulary) {
      atomicAdd(&counts[base + token], 1u);
    }
  }
  storageBarrier();
  for (var position = begin + thread; position < end; position += WORKGROUP) {
    let token = history[row.slot * params.context + position];
    if (token < params.vocabulary) {
      let count = atomicExchange(&counts[base + token], 0u);
      if (count > 0u) {
        let logit = logits[base + token];
        let repeated = select(
          logit * options.repeat_penalty,
          logit / options.repeat_penalty,
          logit > 0.0,
        );
        logits[base + token] = repeated - options.frequency_penalty * f32(count) -
          options.presence_penalty;
      }
    }
  }
}
