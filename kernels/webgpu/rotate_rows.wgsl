// Rotary position embedding in place by angles that each row brings along: of images, whose
// positions have two axes (Heo et al. 2024). All heads of a row have the same angles. Pair p of a head is its
// elements e and e + distance, where the elements of `distance` pairs lie before their partners: 1
// for neighbours, half a head for halves. One invocation per pair.
struct Params {
  heads: u32,
  pairs: u32,      // half of a head's elements
  distance: u32,   // from an element to its partner, a divisor of pairs
  stride: u32,     // floats in a row of x
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> angles: array<vec2<f32>>;     // [rows, pairs] (cos, sin)
@group(0) @binding(2) var<storage, read_write> x: array<f32>;         // [rows, stride]

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let head = id.x / params.pairs;
  let pair = id.x % params.pairs;
  if (head >= params.heads) {
    return;
  }
  let element = pair / params.distance * 2u * params.distance + pair % params.distance;
  let first = id.y * params.stride + head * 2u * params.pairs + element;
  let second = first + params.distance;
  let angle = angles[id.y * params.pairs + pair];
  let a = x[first];
  let b = x[second];
  x[first] = a * angle.x - b * angle.y;
  x[second] = b * angle.x + a * angle.y;
}
