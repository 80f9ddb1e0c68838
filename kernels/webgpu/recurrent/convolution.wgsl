// Causal depthwise convolution over time: y[t] = bias + sum_j weight[j] * x[t - WIDTH + 1 + j] for
// each channel, with the last WIDTH - 1 inputs of a sequence kept between steps (Gu and Dao 2023,
// section 3.4). SILU: y = silu of that. GATED (LFM2): the input is the product of two ranges of columns,
// and the result is multiplied by a third range.
// A segment's rows are divided into shares, with one invocation for each channel and share. Only the
// first share reads the state; so it also writes the new one, without a race.
struct Params {
  channels: u32,
  stride: u32,       // floats in a row of x
  first: u32,        // column of x
  input_gate: u32,   // column of x
  output_gate: u32,  // column of x
  y_stride: u32,     // floats in a row of y
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(3) var<storage, read> x: array<f32>;            // [rows, stride]
@group(0) @binding(4) var<storage, read> weight: array<f32>;       // [channels, WIDTH]
#if BIAS
@group(0) @binding(5) var<storage, read> bias: array<f32>;         // [channels]
#end
@group(0) @binding(6) var<storage, read_write> state: array<f32>;  // [slots, HISTORY, channels]
@group(0) @binding(7) var<storage, read_write> y: array<f32>;      // [rows, y_stride]

// The input HISTORY rows before row `index` of the segment.
fn input(segment: Segment, index: u32, channel: u32) -> f32 {
  if (index < HISTORY) {
    if (segment.fresh) {
      return 0.0;
    }
    return state[(segment.slot * HISTORY + index) * params.channels + channel];
  }
  let at = (segment.first + index - HISTORY) * params.stride + channel;
  #if GATED
  return x[at + params.first] * x[at + params.input_gate];
  #else
  return x[at + params.first];
  #end
}

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(global_invocation_id) id: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
) {
  let channel = id.x;
  if (channel >= params.y_stride) {
    return;
  }
  let segment = segment_at(id.y);
  let share = max(HISTORY, (segment.count + workgroups.z - 1u) / workgroups.z);
  let end = min(segment.count, (id.z + 1u) * share);
  let is_padding = channel >= params.channels;
  #for j in 0..WIDTH
  let weight$j = weight[channel * WIDTH + $j];
  #end

  for (var row = id.z * share; row < end; row++) {
    let to = (segment.first + row) * params.y_stride + channel;
    if (is_padding) {
      y[to] = 0.0;
      continue;
    }
    #if BIAS
    var sum = bias[channel];
    #else
    var sum = 0.0;
    #end
    #for j in 0..WIDTH
    sum += weight$j * input(segment, row + $j, channel);
    #end
    #if SILU
    sum = silu(sum);
    #end
    #if GATED
    sum *= x[(segment.first + row) * params.stride + channel + params.output_gate];
    #end
    y[to] = sum;
  }

  if (id.z == 0u && !is_padding) {
    // In ascending order, because an entry is computed from later ones.
    for (var i = 0u; i < HISTORY; i++) {
      let newer = input(segment, segment.count + i, channel);
      state[(segment.slot * HISTORY + i) * params.channels + channel] = newer;
    }
  }
}
