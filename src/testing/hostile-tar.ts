/** Tar archives as a stranger may write them: headers, sizes and pax records that are wrong in every way. */
import fc from 'fast-check'
import { concatBytes, utf8 } from '../core/bytes.ts'
import { TAR_BLOCK_BYTES, tarPadding, tarHeader } from '../core/tar.ts'

/** One entry, its size field as it is written. */
export interface PlantedEntry {
  readonly name: string
  /** The type flag, such as `0` for a file and `x` for pax records. */
  readonly type: string
  readonly data: Uint8Array
  /** The bytes of the size field; the true size without it. */
  readonly size?: string
}

/** An archive of entries, right or wrong. */
export function plantedTar(entries: readonly PlantedEntry[]): Uint8Array {
  const parts = entries.flatMap(({ name, type, data, size }) => {
    const header = tarHeader(name, data.byteLength)
    header.set(utf8(type), 156)
    if (size !== undefined) header.set(Buffer.from(size.padEnd(12, '\0').slice(0, 12), 'latin1'), 124)
    return [header, data, new Uint8Array(tarPadding(data.byteLength))]
  })
  return concatBytes([...parts, new Uint8Array(2 * TAR_BLOCK_BYTES)])
}

/** An archive with one file whose pax records are this text. */
export function tarWithPax(records: string, name = 'web/Chart.yaml'): Uint8Array {
  return plantedTar([
    { name: 'pax', type: 'x', data: Buffer.from(records, 'latin1') },
    { name, type: '0', data: utf8('name: web\n') },
  ])
}

/** Lengths that `Number` reads and that are no length: none of them moves a reader forward. */
export const NO_LENGTHS = [
  '1e-300',
  '0',
  '00',
  '-5',
  '+5',
  '0x5',
  '.5',
  '5.5',
  'Infinity',
  'NaN',
  '',
  '1e9',
  '9e9',
  '99999999999',
] as const

const lengths = fc.oneof(fc.constantFrom(...NO_LENGTHS), fc.integer({ min: 0, max: 40 }).map(String))
const records = fc
  .array(
    fc.oneof(
      fc
        .tuple(
          lengths,
          fc.constantFrom(' ', '', '  ', '='),
          fc.constantFrom('path', 'linkpath', 'size', ''),
          fc.constantFrom('=', ''),
          fc.string({ maxLength: 12 }),
        )
        .map((parts) => `${parts.join('')}\n`),
      fc.constant('15 path=web/a.b\n'),
      fc.string({ maxLength: 20 }),
    ),
    { maxLength: 6 },
  )
  .map((parts) => Buffer.from(parts.join(''), 'latin1'))
const sizes = fc.oneof(
  fc.constant(undefined),
  fc.constantFrom(
    '',
    '-0000000512',
    '-1',
    '1e-300',
    '0x10',
    '777777777777',
    '12x',
    '\u0080',
    '\u00ff'.repeat(12),
    '        17 ',
  ),
  fc.string({ maxLength: 12 }),
)
const entries = fc.record({
  name: fc.constantFrom('web/Chart.yaml', 'web/a', 'web/../b', '/etc/passwd', ''),
  type: fc.constantFrom('0', 'x', 'g', 'L', 'K', '5', '2', '\0'),
  data: fc.oneof(records, fc.uint8Array({ maxLength: 40 })),
  size: sizes,
})

/** Archives that are wrong somewhere, cut off anywhere. */
export const hostileTars: fc.Arbitrary<Uint8Array> = fc
  .tuple(fc.array(entries, { maxLength: 5 }), fc.nat({ max: 6 * TAR_BLOCK_BYTES }), fc.boolean())
  .map(([planted, cut, isWhole]) => {
    const tar = plantedTar(planted.map(({ size, ...entry }) => ({ ...entry, ...(size === undefined ? {} : { size }) })))
    return isWhole ? tar : tar.subarray(0, Math.min(cut, tar.byteLength))
  })
