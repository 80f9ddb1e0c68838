// A part of linear.wgsl: the loop over the groups of weights that are stored as codes. A turn unpacks a
// group of each row and multiplies it by that of each token, int8 by int8 or as floats. How much of a
// group is loaded at once decides over registers: see weight_code.ts.
  #if ADDED_PLACE
  var x_group = X_VECTORS * lane;
  #end
  for (var group = lane; group < groups; group += LANES) {
    #if !ADDED_PLACE
    let x_group = X_VECTORS * group;
    #end
    #for c in 0..COLS
    let at$c = from$c + x_group;
    #if INTEGER
    #if SIDES_APART
    let low$c = x[at$c];
    let high$c = x[at$c + 1u];
    #end
    let scales$c = bitcast<vec4<f32>>(x[at$c + 2u]);
    #if DEFERRED_NORM
    squares$c += scales$c.w;
    #end
    #end
    #end
    #for s in 0..SIDES
    #if !SOFTWARE
    #for r in 0..ROWS
    let packed$s_$r = fetch_group(from_row$s_$r + group);
    #end
    #end
    #for r in 0..ROWS
    #if SOFTWARE
    let packed$s_$r = fetch_group(from_row$s_$r + group);
    #end
    #if PART_OF_ROW
    let w$s_$r = unpack_group(packed$s_$r, group);
    #else
    let w$s_$r = unpack_group(packed$s_$r, from_row$s_$r + group);
    #end
    #if SIDES_APART
    #for c in 0..COLS
    #if UNIFORM_GROUP
    let products$s_$r_$c = dot16(dot16(0, w$s_$r.low, low$c), w$s_$r.high, high$c);
    sum$s_$r_$c = add_scaled(
      sum$s_$r_$c, w$s_$r, 0, scales$c.x, f32(products$s_$r_$c), scales$c.y + scales$c.z,
    );
    #else
    let first$s_$r_$c = f32(dot16(0, w$s_$r.low, low$c));
    let second$s_$r_$c = f32(dot16(0, w$s_$r.high, high$c));
    sum$s_$r_$c = add_scaled(sum$s_$r_$c, w$s_$r, 0, scales$c.x, first$s_$r_$c, scales$c.y);
    sum$s_$r_$c = add_scaled(sum$s_$r_$c, w$s_$r, 1, scales$c.x, second$s_$r_$c, scales$c.z);
    #end
    #end
    #end
    #end
    #end
    #if !SIDES_APART
    // One half after the other, so that x takes half the registers.
    #for c in 0..COLS
    #if !INTEGER
    var total$c = 0.0;
    #end
    #for s in 0..SIDES
    #for r in 0..ROWS
    var products$s_$r_$c = Products();
    #end
    #end
    #end
    #for h in 0..2
    #for t in 0..TURNS
    {
      #if INTEGER
      #for c in 0..COLS
      let x$c = x[at$c + $h];
      #for s in 0..SIDES
      #for r in 0..ROWS
      products$s_$r_$c = dot16(products$s_$r_$c, codes_of(w$s_$r, $h), x$c);
      #end
      #end
      #end
      #else
      #for j in 0..AT_ONCE
      #for c in 0..COLS
      let x$c_$j = x[at$c + 4u * $h + $t * AT_ONCE + $j];
      #end
      #end
      #for j in 0..AT_ONCE
      #if NEEDS_TOTAL
      #for c in 0..COLS
      total$c = add_products(total$c, vec4(1.0), x$c_$j);
      #end
      #end
      #for s in 0..SIDES
      #for r in 0..ROWS
      #if WHOLE_WEIGHTS
      let w$s_$r_$j = weight_floats(w$s_$r, $h, $t * AT_ONCE + $j);
      #for c in 0..COLS
      sum$s_$r_$c = add_products(sum$s_$r_$c, w$s_$r_$j, x$c_$j);
      #end
      #else
      let w$s_$r_$j = code_floats(w$s_$r, $h, $t * AT_ONCE + $j);
      #for c in 0..COLS
      products$s_$r_$c = add_products(products$s_$r_$c, w$s_$r_$j, x$c_$j);
      #end
      #end
      #end
      #end
      #end
      #end
    }
    #end
    #if ADD_HALVES
    #for c in 0..COLS
    #for s in 0..SIDES
    #for r in 0..ROWS
    #if INTEGER
    sum$s_$r_$c = add_scaled(
      sum$s_$r_$c, w$s_$r, $h, scales$c.x, f32(products$s_$r_$c), scales$c[1 + $h],
    );
    #else
    sum$s_$r_$c = add_scaled(sum$s_$r_$c, w$s_$r, $h, 1.0, products$s_$r_$c, total$c);
    #end
    products$s_$r_$c = Products();
    #end
    #end
    #if !INTEGER
    total$c = 0.0;
    #end
    #end
    #end
    #end
    #if ADD_GROUPS
    #for c in 0..COLS
    #for s in 0..SIDES
    #for r in 0..ROWS
    #if INTEGER
    sum$s_$r_$c = add_scaled(
      sum$s_$r_$c, w$s_$r, 0, scales$c.x, f32(products$s_$r_$c), scales$c.y + scales$c.z,
    );
    #else
    sum$s_$r_$c = add_scaled(sum$s_$r_$c, w$s_$r, 0, 1.0, products$s_$r_$c, total$c);
    #end
    #end
    #end
    #end
    #end
    #end
    #if ADDED_PLACE
    x_group += X_VECTORS * LANES;
    #end
  }
