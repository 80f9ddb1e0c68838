// Reads a buffer as fast as WGSL can, to measure the bandwidth: four loads at a time, a stride apart, so
// that as many as possible are under way. Each invocation writes the sum of what it has read.

@group(0) @binding(0) var<storage, read> x: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>) {
  var sum = vec4(0u);
  let stride = workgroups.x * 64u;
  for (var i = id.x; i < arrayLength(&x); i += 4u * stride) {
    sum += x[i] + x[i + stride] + x[i + 2u * stride] + x[i + 3u * stride];
  }
  sums[id.x] = sum.x + sum.y + sum.z + sum.w;
}
