/** The fields of a protobuf message as they are on the wire. */

/** A field: a number for wire type 0, bytes for 2; other types are bytes too. */
export interface WireField {
  readonly number: number
  readonly value: bigint | Uint8Array
}

/** A message that is cut short or says nonsense. */
export class WireError extends Error {
  override readonly name = 'WireError'
}

/** Reads the fields of a message in turn. */
export function* readFields(bytes: Uint8Array): Generator<WireField> {
  let at = 0
  function varint(): bigint {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at]
      if (byte === undefined) break
      at += 1
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return BigInt.asUintN(64, value)
    }
    throw new WireError('varint is not terminated')
  }
  function take(length: number): Uint8Array {
    if (length > bytes.byteLength - at) throw new WireError('field is longer than its message')
    at += length
    return bytes.subarray(at - length, at)
  }
  while (at < bytes.byteLength) {
    const tag = varint()
    const number = Number(tag >> 3n)
    if (number === 0) throw new WireError('field number is 0')
    switch (Number(tag & 7n)) {
      case 0:
        yield { number, value: varint() }
        break
      case 1:
        yield { number, value: take(8) }
        break
      case 2:
        yield { number, value: take(Number(varint())) }
        break
      case 5:
        yield { number, value: take(4) }
        break
      default:
        throw new WireError(`field ${number} has an unsupported wire type`)
    }
  }
}
