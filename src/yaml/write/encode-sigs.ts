/** Plain values as sigs.k8s.io/yaml writes them: made into JSON, read as YAML, and that written by yaml.v2. */
import { Emitter } from './emitter.ts'
import { goJson, goJsonNumber } from '../go-json.ts'
import type { Unwrap } from '../go-json.ts'
import { goFloat } from '../go-text.ts'
import { sortedEntries } from './key-order.ts'
import { DOUBLE_QUOTED, LITERAL, PLAIN } from '../node.ts'
import { readFirstYaml } from '../read/read-yaml.ts'
import { isBase60, resolveTag } from '../resolve-scalar.ts'

/** The text of a value, with a newline at its end. */
export function encodeSigs(value: unknown, unwrap: Unwrap): string {
  const text = encodeDirectly(value, unwrap)
  if (text !== undefined) return text
  // Some strings do not survive being read again as YAML, or are an error then: go the whole way, as Go does.
  const reread = readFirstYaml(goJson(value, unwrap), { duplicateKeys: 'last', integers: 'bigint', mappings: 'map' })
  return encode(
    reread.value,
    (plain) => plain,
    () => true,
  )!
}

function encodeDirectly(value: unknown, unwrap: Unwrap): string | undefined {
  return encode(value, unwrap, survivesReading)
}

// JSON leaves these as they are, and YAML does not allow them or folds lines at them.
const CHANGED_BY_READING = /[\u007f-\u009f\ufffe\uffff]/

// YAML gives up on a key in brackets after 1,024 characters of JSON.
const LONGEST_SAFE_KEY = 160

function survivesReading(text: string, isKey: boolean): boolean {
  return !CHANGED_BY_READING.test(text) && !(isKey && text.length > LONGEST_SAFE_KEY)
}

function encode(value: unknown, unwrap: Unwrap, isSafe: (text: string, isKey: boolean) => boolean): string | undefined {
  const emitter = new Emitter({ v3: false, indent: 2, width: 80, compactSequences: false })
  let safe = true
  const string = (raw: string, isKey: boolean): void => {
    const text = raw.toWellFormed()
    safe &&= isSafe(text, isKey)
    emitter.scalar({ value: text, style: stringStyle(text) })
  }
  const node = (raw: unknown): void => {
    const plain = unwrap(raw)
    if (typeof plain === 'string') string(plain, false)
    else if (typeof plain === 'number' || typeof plain === 'bigint')
      emitter.scalar({ value: numberText(plain), style: PLAIN })
    else if (typeof plain === 'boolean') emitter.scalar({ value: String(plain), style: PLAIN })
    else if (Array.isArray(plain)) {
      emitter.startSequence({ flow: false, empty: plain.length === 0 })
      for (const item of plain) node(item)
      emitter.end()
    } else if (typeof plain === 'object' && plain !== null) {
      const entries = sortedEntries(plain, false)
      emitter.startMapping({ flow: false, empty: entries.length === 0 })
      for (const [key, item] of entries) {
        string(key, true)
        node(item)
      }
      emitter.end()
    } else emitter.scalar({ value: 'null', style: PLAIN })
  }
  emitter.startDocument()
  node(value)
  emitter.endDocument()
  return safe ? emitter.text : undefined
}

function stringStyle(text: string): number {
  if (text.includes('\n')) return LITERAL
  return resolveTag(text, '1.1') === '!!str' && !isBase60(text) ? PLAIN : DOUBLE_QUOTED
}

const MIN_INT64 = -(2n ** 63n)
const MAX_UINT64 = 2n ** 64n - 1n

// The reader takes whole numbers for integers while they fit 64 bits.
function numberText(value: number | bigint): string {
  if (typeof value === 'number') {
    if (!Number.isInteger(value) || Math.abs(value) >= 1e21) {
      goJsonNumber(value)
      return goFloat(value)
    }
    if (Number.isSafeInteger(value)) return String(value === 0 ? 0 : value)
    return numberText(BigInt(String(value)))
  }
  return value >= MIN_INT64 && value <= MAX_UINT64 ? String(value) : goFloat(Number(value))
}
