// f32 rows to int8 groups of 32, for products whose input no earlier kernel has quantized.
// One invocation per group; x over the groups of a row, y over rows. SQUARES: x has sums of squares, of a
// norm that products finish, which become those of the groups.
struct Params {
  groups: u32,
  #if SQUARES
  squares: u32,       // quad of x at which they begin
  square_quads: u32,  // quads of them for each row
  #end
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;                // [rows, groups, 8]
@group(0) @binding(2) var<storage, read_write> y: array<QuantizedGroup>;  // [rows, groups]

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x >= params.groups) {
    return;
  }
  let at = id.y * params.groups + id.x;
  var group = quantize_group(
    x[8u * at], x[8u * at + 1u], x[8u * at + 2u], x[8u * at + 3u],
    x[8u * at + 4u], x[8u * at + 5u], x[8u * at + 6u], x[8u * at + 7u],
  );
  #if SQUARES
  group.scales.w = x[params.squares + id.y * params.square_quads + id.x / 4u][id.x % 4u];
  #end
  y[at] = group;
}
