// What linear.wgsl and matmul.wgsl share: the bindings of y = x W^T and the pieces of its epilogue.
// INTEGER: x is int8 groups. AFFINE: each row of w has a scale and a bias. QUANTIZED_OUTPUT: y is
// int8 groups. The planes of w follow from binding 8 on, see its format.
struct Params {
  rows: u32,        // outputs
  groups: u32,      // groups of 32 columns in a row of weights
  first: u32,       // column of y that the first output goes to
  stride: u32,      // columns of y
}
@group(0) @binding(0) var<uniform> params: Params;
#if INTEGER
@group(0) @binding(1) var<storage, read> x_quants: array<vec4<u32>>;  // [tokens, groups, 2]
@group(0) @binding(2) var<storage, read> x_scales: array<vec4<f32>>;  // [tokens, groups]
#else
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;         // [tokens, groups, 8]
#end
#if AFFINE
@group(0) @binding(3) var<storage, read> affine: array<vec2<f32>>;    // [rows of w] (scale, bias)
#end
#if QUANTIZED_OUTPUT
@group(0) @binding(4) var<storage, read_write> y_quants: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read_write> y_scales: array<vec4<f32>>;
#else
@group(0) @binding(4) var<storage, read_write> y: array<f32>;         // [tokens, stride]
#end

#if INTEGER
fn dot16(a: vec4<u32>, b: vec4<u32>) -> i32 {
  return dot4I8Packed(a.x, b.x) + dot4I8Packed(a.y, b.y) + dot4I8Packed(a.z, b.z) +
    dot4I8Packed(a.w, b.w);
}
#end

fn silu(x: f32) -> f32 {
  return x / (1.0 + exp(-x));
}

#if QUANTIZED_OUTPUT
// `results` is the kernel's own array of outputs in workgroup memory.
fn result4(at: u32) -> vec4<f32> {
  return vec4(results[at], results[at + 1u], results[at + 2u], results[at + 3u]);
}

fn quantize_results(start: u32) -> QuantizedGroup {
  return quantize_group(
    result4(start), result4(start + 4u), result4(start + 8u), result4(start + 12u),
    result4(start + 16u), result4(start + 20u), result4(start + 24u), result4(start + 28u),
  );
}
#end
