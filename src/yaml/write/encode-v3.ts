/** Plain values as yaml.v3 writes them. */
import { base64 } from '../../core/bytes.ts'
import type { Emitter } from './emitter.ts'
import type { Unwrap } from '../go-json.ts'
import { goFloat } from '../go-text.ts'
import { sortedEntries } from './key-order.ts'
import { DOUBLE_QUOTED, LITERAL, PLAIN } from '../node.ts'
import { isBase60, isYaml11Boolean, resolveTag } from '../resolve-scalar.ts'

/** Sends the events of a value to an emitter; bytes are a text that is no UTF-8. */
export function encodeV3(emitter: Emitter, value: unknown, unwrap: Unwrap): void {
  const plain = unwrap(value)
  if (typeof plain === 'string') emitString(emitter, plain)
  else if (plain instanceof Uint8Array) emitBinary(emitter, plain)
  else if (Array.isArray(plain)) {
    emitter.startSequence({ flow: false, empty: plain.length === 0 })
    for (const item of plain) encodeV3(emitter, item, unwrap)
    emitter.end()
  } else if (typeof plain === 'object' && plain !== null) {
    const entries = sortedEntries(plain, true)
    emitter.startMapping({ flow: false, empty: entries.length === 0 })
    for (const [key, item] of entries) {
      encodeV3(emitter, key, unwrap)
      encodeV3(emitter, item, unwrap)
    }
    emitter.end()
  } else emitter.scalar({ value: scalarText(plain), style: PLAIN })
}

function scalarText(value: unknown): string {
  if (typeof value === 'number') return SPECIAL_FLOATS.get(value) ?? goFloat(value)
  return typeof value === 'bigint' || typeof value === 'boolean' ? String(value) : 'null'
}

const SPECIAL_FLOATS = new Map([
  [Infinity, '.inf'],
  [-Infinity, '-.inf'],
  [NaN, '.nan'],
])

function emitString(emitter: Emitter, raw: string): void {
  const value = raw.toWellFormed()
  emitter.scalar({ value, style: value.includes('\n') ? LITERAL : needsQuotes(value) ? DOUBLE_QUOTED : PLAIN })
}

/** In lines of 70 where it is longer than one. */
function emitBinary(emitter: Emitter, bytes: Uint8Array): void {
  const text = base64(bytes)
  const value = text.length < 70 ? text : text.replaceAll(/.{1,70}/g, '$&\n')
  emitter.scalar({ value, style: value.includes('\n') ? LITERAL : PLAIN, tag: 'tag:yaml.org,2002:binary' })
}

function needsQuotes(text: string): boolean {
  return resolveTag(text, '1.2') !== '!!str' || isBase60(text) || isYaml11Boolean(text)
}
