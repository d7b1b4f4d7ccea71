;; Products of many rows of bytes with one vector of 16-bit numbers, eight numbers at a time. For each row, two sums of
;; four lanes each go over 32 numbers of the row and the query at once; their total is the product. There must be at
;; least one row, and its bytes are a multiple of 32.
;; After a change: `npx wat2wasm dot-products.wat -o dot-products.wasm`. A test compares the two.
(module
  (import "host" "memory" (memory 1))
  (func (export "dots")
    (param $row i32) (param $query i32) (param $out i32) (param $rows i32) (param $stride i32)
    (local $number i32) (local $end i32)
    (local $low v128) (local $high v128) (local $first v128) (local $second v128)
    (loop $each-row
      (local.set $low (v128.const i32x4 0 0 0 0))
      (local.set $high (v128.const i32x4 0 0 0 0))
      (local.set $number (local.get $query))
      (local.set $end (i32.add (local.get $row) (local.get $stride)))
      (loop $each-number
        (local.set $first (v128.load (local.get $row)))
        (local.set $second (v128.load offset=16 (local.get $row)))
        (local.set $low
          (i32x4.add
            (local.get $low)
            (i32x4.dot_i16x8_s (i16x8.extend_low_i8x16_s (local.get $first)) (v128.load (local.get $number)))))
        (local.set $high
          (i32x4.add
            (local.get $high)
            (i32x4.dot_i16x8_s
              (i16x8.extend_high_i8x16_s (local.get $first))
              (v128.load offset=16 (local.get $number)))))
        (local.set $low
          (i32x4.add
            (local.get $low)
            (i32x4.dot_i16x8_s
              (i16x8.extend_low_i8x16_s (local.get $second))
              (v128.load offset=32 (local.get $number)))))
        (local.set $high
          (i32x4.add
            (local.get $high)
            (i32x4.dot_i16x8_s
              (i16x8.extend_high_i8x16_s (local.get $second))
              (v128.load offset=48 (local.get $number)))))
        (local.set $row (i32.add (local.get $row) (i32.const 32)))
        (local.set $number (i32.add (local.get $number) (i32.const 64)))
        (br_if $each-number (i32.ne (local.get $row) (local.get $end))))
      (local.set $low (i32x4.add (local.get $low) (local.get $high)))
      (i32.store
        (local.get $out)
        (i32.add
          (i32.add (i32x4.extract_lane 0 (local.get $low)) (i32x4.extract_lane 1 (local.get $low)))
          (i32.add (i32x4.extract_lane 2 (local.get $low)) (i32x4.extract_lane 3 (local.get $low)))))
      (local.set $out (i32.add (local.get $out) (i32.const 4)))
      (local.set $rows (i32.sub (local.get $rows) (i32.const 1)))
      (br_if $each-row (local.get $rows)))))
