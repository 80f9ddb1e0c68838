// Finds the best token of each strip of an output's logits as (key, id), so that sample.wgsl has to
// look only at strips with good tokens. A strip is STRIP tokens, WORKGROUP apart; each invocation
// reads one.
// MASKED: first sets the logits of tokens that the output's mask forbids to -inf, except those that are
// NaN or +inf, which are reported whatever the mask says.
// Grid: x over blocks of WORKGROUP * STRIP tokens, y over outputs.
struct Params {
  vocabulary: u32,
  strips: u32,       // strips of an output: WORKGROUP per workgroup
}
@group(0) @binding(0) var<uniform> params: Params;
#if MASKED
@group(0) @binding(1) var<storage, read_write> logits: array<u32>;       // [outputs, vocabulary]
#else
@group(0) @binding(1) var<storage, read> logits: array<u32>;             // [outputs, vocabulary]
#end
@group(0) @binding(2) var<storage, read_write> strips: array<vec2<u32>>; // [outputs, strips]
#if MASKED
@group(0) @binding(3) var<storage, read> outputs: array<u32>;            // [outputs] row
@group(0) @binding(4) var<storage, read> rows: array<StepRow>;           // [rows]
@group(0) @binding(5) var<storage, read> sampling: array<Sampling>;      // [slots]
@group(0) @binding(6) var<storage, read> mask: array<u32>;               // [outputs, words] bits
#end

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let output = workgroup.y;
  let base = output * params.vocabulary;
  #if MASKED
  let slot = rows[outputs[output]].slot;
  let masked = sampling[slot].masked != 0u;
  let mask_base = output * ((params.vocabulary + 31u) / 32u);
  #end

  var best = vec2(0u, NONE);
  let first = workgroup.x * (WORKGROUP * STRIP) + thread;
  for (var at = 0u; at < STRIP; at += UNROLL) {
    #for u in 0..UNROLL
    let place$u = first + (at + $u) * WORKGROUP;
    // Past the end the last token is read and ignored, so that loads need no branch and overlap.
    let token$u = min(place$u, params.vocabulary - 1u);
    let logit$u = logits[base + token$u];
    var key$u = key_of(logit$u);
    #if MASKED
    // No branch: some drivers run the lanes of a branch one by one, which takes ten times as long.
    let bit$u = extractBits(mask[mask_base + token$u / 32u], token$u % 32u, 1u);
    let allowed$u = bit$u != 0u || !masked || key$u == NOT_FINITE;
    #end
    #end
    #for u in 0..UNROLL
    #if MASKED
    key$u = select(DISALLOWED, key$u, allowed$u);
    logits[base + token$u] = select(0xff800000u, logit$u, allowed$u); // -inf
    #end
    if (place$u < params.vocabulary && key$u > best.x) {
      best = vec2(key$u, token$u);
    }
    #end
  }
  strips[output * params.strips + workgroup.x * WORKGROUP + thread] = best;
}
