// 32 activations as int8 codes: x[i] = d * code[i]. `scales` is (d, sum of the first sixteen x,
// sum of the last sixteen, 0): the sums serve weight formats that have a minimum.
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
    max(max(abs(x0), abs(x1)), max(abs(x2), abs(x3))),
    max(max(abs(x4), abs(x5)), max(abs(x6), abs(x7))),
  );
  let peak = max(max(peaks.x, peaks.y), max(peaks.z, peaks.w));
  let inverse = select(0.0, 127.0 / peak, peak > 1e-30);
  let one = vec4(1.0);
  return QuantizedGroup(
    vec4(code4(x0 * inverse), code4(x1 * inverse), code4(x2 * inverse), code4(x3 * inverse)),
    vec4(code4(x4 * inverse), code4(x5 * inverse), code4(x6 * inverse), code4(x7 * inverse)),
    vec4(peak / 127.0, dot(x0 + x1 + x2 + x3, one), dot(x4 + x5 + x6 + x7, one), 0.0),
  );
}

fn code4(x: vec4<f32>) -> u32 {
  return pack4xI8(vec4<i32>(round(x)));
}
