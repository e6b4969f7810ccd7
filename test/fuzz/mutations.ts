/** Hostile variants of good inputs: bytes flipped, cut, repeated and replaced by numbers and words that readers fear. */
import fc from 'fast-check'

/** Texts at which readers of numbers, paths and structure go wrong. */
const FEARED = [
  '1e-300',
  '-1',
  '0',
  '00000000000000000000',
  '9007199254740993',
  '99999999999999999999',
  '0x10',
  'NaN',
  '../',
  '..\\',
  '/',
  '\0',
  '\r\n',
  '\u2028',
  '\ud800',
  '%00',
  '${',
  '{{',
  '*a',
  '&a',
  '<<',
  '__proto__',
  'constructor',
  '(((((((((((((((((',
  '[[[[[[[[[[[[[[[[[[',
  '{"a":{"a":{"a":',
  '"'.repeat(64),
  'a'.repeat(5000),
].map((text) => Buffer.from(text))

type Edit =
  | { readonly do: 'flip' | 'cut' | 'drop' | 'repeat'; readonly at: number; readonly size: number }
  | { readonly do: 'insert'; readonly at: number; readonly bytes: Uint8Array }

const position = fc.double({ min: 0, max: 1, noNaN: true })
const edits: fc.Arbitrary<Edit[]> = fc.array(
  fc.oneof(
    fc.record({
      do: fc.constantFrom('flip' as const, 'cut' as const, 'drop' as const, 'repeat' as const),
      at: position,
      size: fc.nat(64),
    }),
    fc.record({
      do: fc.constant('insert' as const),
      at: position,
      bytes: fc.oneof(fc.constantFrom(...FEARED), fc.uint8Array({ maxLength: 32 })),
    }),
  ),
  { minLength: 1, maxLength: 6 },
)

function edited(bytes: Buffer, edit: Edit): Buffer {
  const at = Math.floor(edit.at * bytes.byteLength)
  if (edit.do === 'insert') return Buffer.concat([bytes.subarray(0, at), edit.bytes, bytes.subarray(at)])
  const part = bytes.subarray(at, at + edit.size)
  if (edit.do === 'cut') return bytes.subarray(0, at)
  if (edit.do === 'drop') return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + edit.size)])
  if (edit.do === 'repeat') {
    const copies = Array.from({ length: 50 }, () => part)
    return Buffer.concat([bytes.subarray(0, at), ...copies, bytes.subarray(at)])
  }
  const flipped = Buffer.from(bytes)
  for (let index = at; index < at + edit.size && index < flipped.byteLength; index++)
    flipped[index]! ^= 1 << (index % 8)
  return flipped
}

/** Inputs of a corpus with a few edits, and now and then bytes without any sense. */
export function mutated(corpus: readonly (string | Uint8Array)[]): fc.Arbitrary<Uint8Array> {
  const seeds = corpus.map((seed) => Buffer.from(seed))
  return fc.oneof(
    { weight: 9, arbitrary: fc.tuple(fc.constantFrom(...seeds), edits).map(([seed, all]) => all.reduce(edited, seed)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 400 }) },
  )
}
