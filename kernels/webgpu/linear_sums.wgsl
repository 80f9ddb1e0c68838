// A part of linear.wgsl: adds up the sums of the invocations of a team, and, where a norm is finished,
// the sums of squares of a token.
  #if DEFERRED_NORM
  #if !INTEGER
  let square_quads = (groups + 3u) / 4u;
  for (var quad = lane; quad < square_quads; quad += LANES) {
    #for c in 0..COLS
    squares$c += dot(x[params.squares + input_of(token$c) * square_quads + quad], vec4(1.0));
    #end
  }
  #end
  #end

  #for s in 0..SIDES
  #for r in 0..ROWS
  #for c in 0..COLS
  #if SUBGROUPS
  sum$s_$r_$c = subgroupAdd(sum$s_$r_$c);
  #end
  #if SHUFFLES
  #for k in 0..SHUFFLE_STEPS
  sum$s_$r_$c += subgroupShuffleXor(sum$s_$r_$c, 1u << u32($k));
  #end
  #end
  #end
  #end
  #end
  #if DEFERRED_NORM
  #for c in 0..COLS
  #if SUBGROUPS
  squares$c = subgroupAdd(squares$c);
  #end
  #if SHUFFLES
  #for k in 0..SHUFFLE_STEPS
  squares$c += subgroupShuffleXor(squares$c, 1u << u32($k));
  #end
  #end
  #end
  #end
  #if SHARED
  // Parts of sums lie side by side: [sums, teams, PARTS].
  let first_part = team * PARTS;
  if (lane % SHUFFLED == 0u) {
    let place = first_part + lane / SHUFFLED;
    #for s in 0..SIDES
    #for r in 0..ROWS
    #for c in 0..COLS
    partials[(($s * ROWS + $r) * COLS + $c) * PLACES + place] = sum$s_$r_$c;
    #end
    #end
    #end
    #if DEFERRED_NORM
    if (team == 0u) {
      #for c in 0..COLS
      square_partials[$c * PARTS + place] = squares$c;
      #end
    }
    #end
  }
  workgroupBarrier();
  #if TWO_STAGES
  // Each lane adds up a share of the parts of one sum; then one lane of each sum adds up its shares.
  const SHARES = LANES / SUMS;  // lanes that share one sum
  let own_sum = lane / SHARES * PLACES + first_part;
  let share = lane % SHARES;
  var share_sum = 0.0;
  for (var j = 0u; j < PARTS / SHARES; j++) {
    share_sum += partials[own_sum + share + j * SHARES];
  }
  workgroupBarrier();
  partials[own_sum + share] = share_sum;
  workgroupBarrier();
  const LEFT = SHARES;
  #else
  const LEFT = PARTS;
  #end
  for (var i = lane; i < SUMS; i += LANES) {
    let first = i * PLACES + first_part;
    var sum = 0.0;
    for (var j = 0u; j < LEFT; j++) {
      sum += partials[first + j];
    }
    partials[first] = sum;
  }
  #if DEFERRED_NORM
  for (var i = thread; i < COLS; i += WORKGROUP) {
    var sum = 0.0;
    for (var j = 0u; j < PARTS; j++) {
      sum += square_partials[i * PARTS + j];
    }
    square_partials[i * PARTS] = sum;
  }
  #end
  workgroupBarrier();
  #end
