// Selective scan of Mamba and, with SCALAR_DECAY, of Mamba 2 (Gu and Dao 2023, algorithm 2; Dao and
// Gu 2024, section 2). Channel c of a head has states h[n]; each row of a sequence does
//   h[n] = exp(dt * a[n]) * h[n] + dt * b[n] * x;  y = sum_n c[n] * h[n] + d * x
// with dt = softplus(its projection + bias). In Mamba every channel is a head, and a is
// [channels, states]. SCALAR_DECAY: a head has several channels and a single a; groups of heads share
// b and c.
// GATED: y *= silu(z).
// TEAM invocations hold the states of a channel in registers, and go through the rows by TILE at a time,
// whose b, c and time steps are staged in workgroup memory.
struct Params {
  channels: u32,
  head_channels: u32,   // channels of a head
  group_channels: u32,  // channels that share b and c
  x_stride: u32,        // floats in a row of x; the other strides likewise
  x_first: u32,
  dt_stride: u32,
  dt_first: u32,
  bc_stride: u32,
  b_first: u32,
  c_first: u32,
  z_stride: u32,
  z_first: u32,
  y_stride: u32,
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(3) var<storage, read> x: array<f32>;      // [rows, channels]
@group(0) @binding(4) var<storage, read> dt: array<f32>;     // [rows, heads]
@group(0) @binding(5) var<storage, read> bc: array<f32>;     // [rows, groups, states], both b and c
#if GATED
@group(0) @binding(6) var<storage, read> z: array<f32>;      // [rows, channels]
#end
#if SCALAR_DECAY
@group(0) @binding(7) var<storage, read> a: array<f32>;        // [heads]
#else
@group(0) @binding(7) var<storage, read> a: array<vec4<f32>>;  // [channels, states / 4]
#end
@group(0) @binding(8) var<uniform> d: array<vec4<f32>, HEAD_QUADS>;     // [heads]
@group(0) @binding(9) var<uniform> bias: array<vec4<f32>, HEAD_QUADS>;  // [heads]
@group(0) @binding(10) var<storage, read_write> state: array<vec4<f32>>;  // [slots, quads, channels]
@group(0) @binding(11) var<storage, read_write> y: array<f32>;            // [rows, y_stride]

const CHANNELS = WORKGROUP / TEAM;
const_assert CHANNELS * TEAM == WORKGROUP;
const STATE_QUADS = TEAM * QUADS;
var<workgroup> tile_b: array<vec4<f32>, TILE * STATE_QUADS>;
var<workgroup> tile_c: array<vec4<f32>, TILE * STATE_QUADS>;
var<workgroup> tile_steps: array<vec2<f32>, TILE * CHANNELS>;  // decay (or dt), dt * x
var<workgroup> tile_sums: array<f32, TILE * WORKGROUP>;

fn bc_quad(at: u32) -> vec4<f32> {
  return vec4(bc[at], bc[at + 1u], bc[at + 2u], bc[at + 3u]);
}

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let segment = segment_at(workgroup.y);
  let first_channel = workgroup.x * CHANNELS;
  let last_channel = params.channels - 1u;
  let group_column = min(first_channel, last_channel) / params.group_channels * STATE_QUADS * 4u;

  // Invocations past the last channel compute it again, and write nothing.
  let lane = thread % CHANNELS;
  let channel = min(first_channel + lane, last_channel);
  let first_quad = thread / CHANNELS * QUADS;
  let state_at = (segment.slot * STATE_QUADS + first_quad) * params.channels + channel;
  #for j in 0..QUADS
  var h$j = select(state[state_at + $j * params.channels], vec4(0.0), segment.fresh);
  #end
  #if !SCALAR_DECAY
  #for j in 0..QUADS
  let a$j = a[channel * STATE_QUADS + first_quad + $j];
  #end
  #end

  for (var done = 0u; done < segment.count; done += TILE) {
    let first_row = segment.first + done;
    let count = min(TILE, segment.count - done);
    for (var i = thread; i < count * STATE_QUADS; i += WORKGROUP) {
      let row = (first_row + i / STATE_QUADS) * params.bc_stride;
      let at = row + group_column + i % STATE_QUADS * 4u;
      tile_b[i] = bc_quad(at + params.b_first);
      tile_c[i] = bc_quad(at + params.c_first);
    }
    for (var i = thread; i < count * CHANNELS; i += WORKGROUP) {
      let row = first_row + i / CHANNELS;
      let staged = min(first_channel + i % CHANNELS, last_channel);
      let head = staged / params.head_channels;
      let step = softplus(dt[row * params.dt_stride + params.dt_first + head] + bias[head / 4u][head % 4u]);
      let input = step * x[row * params.x_stride + params.x_first + staged];
      #if SCALAR_DECAY
      tile_steps[i] = vec2(exponential(step * a[head]), input);
      #else
      tile_steps[i] = vec2(step, input);
      #end
    }
    workgroupBarrier();

    for (var row = 0u; row < count; row++) {
      let step = tile_steps[row * CHANNELS + lane];
      let at = row * STATE_QUADS + first_quad;
      var sum = 0.0;
      #for j in 0..QUADS
      #if SCALAR_DECAY
      h$j = h$j * step.x + step.y * tile_b[at + $j];
      #else
      h$j = h$j * exp(step.x * a$j) + step.y * tile_b[at + $j];
      #end
      sum += dot(h$j, tile_c[at + $j]);
      #end
      tile_sums[row * WORKGROUP + thread] = sum;
    }
    workgroupBarrier();

    // No barrier follows: the staging of the next tile does not write the sums.
    for (var i = thread; i < count * CHANNELS; i += WORKGROUP) {
      let row = first_row + i / CHANNELS;
      let column = first_channel + i % CHANNELS;
      if (column >= params.y_stride) {
        continue;
      }
      var value = 0.0;
      if (column <= last_channel) {
        let input = x[row * params.x_stride + params.x_first + column];
        let head = column / params.head_channels;
        value = d[head / 4u][head % 4u] * input;
        for (var part = 0u; part < TEAM; part++) {
          value += tile_sums[i / CHANNELS * WORKGROUP + part * CHANNELS + i % CHANNELS];
        }
        #if GATED
        value *= silu(z[row * params.z_stride + params.z_first + column]);
        #end
      }
      y[row * params.y_stride + column] = value;
    }
  }

  if (first_channel + lane <= last_channel) {
    #for j in 0..QUADS
    state[state_at + $j * params.channels] = h$j;
    #end
  }
}
