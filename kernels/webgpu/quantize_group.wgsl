// 32 activations as int8 codes: x[i] = d * code[i]. `scales` is (d, sum of the first sixteen
// d * code, sum of the last sixteen, 0). The sums serve weight formats with a minimum, whose product
// is scale * sum(code * x) + minimum * sum(x). Both terms may be large and cancel out, so sum(x) has to
// be that of the rounded x. Where a value of a group is NaN or infinite, so is d.
struct QuantizedGroup {
  low: vec4<u32>,
  high: vec4<u32>,
  scales: vec4<f32>,
}

fn quantize_group(
  x0: vec4<f32>, x1: vec4<f32>, x2: vec4<f32>, x3: vec4<f32>,
  x4: vec4<f32>, x5: vec4<f32>, x6: vec4<f32>, x7: vec4<f32>,
) -> QuantizedGroup {
  let peaks = max(
    max(max(magnitude(x0), magnitude(x1)), max(magnitude(x2), magnitude(x3))),
    max(max(magnitude(x4), magnitude(x5)), max(magnitude(x6), magnitude(x7))),
  );
  let peak = bitcast<f32>(max(max(peaks.x, peaks.y), max(peaks.z, peaks.w)));
  let inverse = select(0.0, 127.0 / peak, peak > 1e-30);
  let d = peak / 127.0;
  let c0 = round(x0 * inverse);
  let c1 = round(x1 * inverse);
  let c2 = round(x2 * inverse);
  let c3 = round(x3 * inverse);
  let c4 = round(x4 * inverse);
  let c5 = round(x5 * inverse);
  let c6 = round(x6 * inverse);
  let c7 = round(x7 * inverse);
  return QuantizedGroup(
    vec4(pack(c0), pack(c1), pack(c2), pack(c3)),
    vec4(pack(c4), pack(c5), pack(c6), pack(c7)),
    vec4(d, d * total(c0 + c1 + c2 + c3), d * total(c4 + c5 + c6 + c7), 0.0),
  );
}

// Magnitudes are compared as integers, which have the order of the floats, with NaN above all. max() of
// two floats may give either if one is NaN.
fn magnitude(x: vec4<f32>) -> vec4<u32> {
  return bitcast<vec4<u32>>(x) & vec4(0x7fffffffu);
}

fn pack(codes: vec4<f32>) -> u32 {
  return pack4xI8(vec4<i32>(codes));
}

fn total(codes: vec4<f32>) -> f32 {
  return dot(codes, vec4(1.0));
}
