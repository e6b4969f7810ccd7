/** Plain values as yaml.v3 writes them. */
import type { Emitter } from './emitter.ts'
import type { Unwrap } from './go-json.ts'
import { goFloat } from './go-text.ts'
import { sortedEntries } from './key-order.ts'
import { DOUBLE_QUOTED, LITERAL, PLAIN } from './node.ts'
import { isBase60, isOldBoolean, resolveTag } from './resolve.ts'

/** Sends the events of a value to an emitter. */
export function encodeV3(emitter: Emitter, value: unknown, unwrap: Unwrap): void {
  const plain = unwrap(value)
  if (typeof plain === 'string') emitString(emitter, plain)
  else if (Array.isArray(plain)) {
    emitter.startSequence({ flow: false, empty: plain.length === 0 })
    for (const item of plain) encodeV3(emitter, item, unwrap)
    emitter.end()
  } else if (typeof plain === 'object' && plain !== null) {
    const entries = sortedEntries(plain, true)
    emitter.startMapping({ flow: false, empty: entries.length === 0 })
    for (const [key, item] of entries) {
      emitString(emitter, key)
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

function needsQuotes(text: string): boolean {
  return resolveTag(text, '1.2') !== '!!str' || isBase60(text) || isOldBoolean(text)
}
