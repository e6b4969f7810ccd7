// Values made from a chart's defaults. Some files change everything of a kind (every boolean turned, every default
// nulled, every type changed); most charts stop at the first of these, so that others change a few places, which lets a
// render go on.
import { readYamlTable } from '../../../render/helm/read-yaml.ts'
import { writeYaml } from '../../../yaml/write/write-yaml.ts'
import { seeded } from './random.ts'
import type { Random } from './random.ts'
import { NUMBER_SPELLINGS, ODD_VALUES, SPELLINGS, spelled } from './odd-values.ts'

/** What becomes of a value: undefined leaves it, and goes on inside a map. */
type Change = (value: unknown) => unknown

const SENTENCE = 'a line\n  - another: {{ .Release.Name }}\n\n# the last\n'

/** What a chart may count up to: a huge one would take all of the machine's memory, by way of helm. */
const isCount = (value: unknown) => typeof value === 'number' && value < 1000

const isFilled = (value: unknown) => value instanceof Map && value.size > 0

const CHANGES: Readonly<Record<string, Change>> = {
  toggled: (value) => (typeof value === 'boolean' ? !value : undefined),
  on: (value) => (value === false ? true : undefined),
  nulled: (value) => (isFilled(value) ? undefined : null),
  strings: (value) => (typeof value === 'number' ? String(value) : value === '' ? 'given' : undefined),
  filled: (value) => {
    if (Array.isArray(value) && value.length === 0) return [new Map([['name', 'given']])]
    if (value instanceof Map && value.size === 0) return new Map([['given', 'value']])
    return value === '' || value === null ? 'given' : undefined
  },
  swapped: (value) => {
    if (typeof value === 'string') return 7
    if (typeof value === 'number') return 'seven'
    return Array.isArray(value) ? new Map([['was', 'list']]) : undefined
  },
  emptied: (value) => {
    if (Array.isArray(value)) return []
    return typeof value === 'string' ? '' : typeof value === 'number' ? 0 : undefined
  },
  large: (value) => (typeof value === 'number' && !isCount(value) ? 9_007_199_254_740_993n : undefined),
  floats: (value) => (typeof value === 'number' ? value + 0.5 : undefined),
  unicode: (value) => (typeof value === 'string' ? `${value} ünï 日本 🚢` : undefined),
  lines: (value) => (typeof value === 'string' ? SENTENCE : undefined),
  listed: (value) => (typeof value === 'string' ? [value] : undefined),
  mapped: (value) => (typeof value === 'string' || Array.isArray(value) ? new Map([['was', value]]) : undefined),
  flattened: (value) =>
    isFilled(value) && ![...(value as Map<string, unknown>).values()].some(isFilled) ? 'flat' : undefined,
  spelled: (value) => (typeof value === 'number' ? spelled(Math.trunc(Math.abs(value)) % NUMBER_SPELLINGS) : undefined),
}

const FLIPPED = ['flips-1', 'flips-2', 'flips-3']
const MIXED = ['mixed-1', 'mixed-2', 'mixed-3', 'mixed-4', 'mixed-5']

/** Each boolean turned or not. */
function flips(random: Random): Change {
  return (value) => (typeof value === 'boolean' && random(2) === 0 ? !value : undefined)
}

/** Replaces a few values by unexpected ones, and flips some Booleans. */
function mixed(random: Random, places: number): Change {
  return (value) => {
    const odd = random(places) < 3 ? ODD_VALUES[random(ODD_VALUES.length)] : undefined
    if (odd !== undefined && !(typeof odd === 'bigint' && isCount(value))) return odd
    return typeof value === 'boolean' && random(3) === 0 ? !value : undefined
  }
}

function change(value: unknown, by: Change): unknown {
  if (!(value instanceof Map)) return by(value)
  const changed = by(value)
  if (changed !== undefined) return changed
  return changeInside(value as Map<string, unknown>, by)
}

function changeInside(value: Map<string, unknown>, by: Change): Map<string, unknown> | undefined {
  const entries = [...value]
    .map(([key, item]) => [key, change(item, by)] as const)
    .filter(([, item]) => item !== undefined)
  return entries.length > 0 ? new Map(entries) : undefined
}

function placesOf(value: unknown): number {
  return value instanceof Map ? [...value.values()].reduce((sum: number, item) => sum + placesOf(item), 1) : 1
}

/** Values files by the name of what was changed; the same defaults give the same files. */
export function generatedValues(defaults: Uint8Array): [string, string][] {
  let values: Map<string, unknown>
  try {
    values = readYamlTable(defaults)
  } catch {
    return []
  }
  const places = placesOf(values)
  const random = (at: number) => seeded(defaults.length * 31 + at)
  const changes: [string, Change][] = [
    ...Object.entries(CHANGES),
    ...FLIPPED.map((name, at): [string, Change] => [name, flips(random(at))]),
    ...MIXED.map((name, at): [string, Change] => [name, mixed(random(100 + at), places)]),
  ]
  return changes.flatMap(([name, by]) => {
    const changed = changeInside(values, by)
    return changed ? [[name, SPELLINGS.reduce(spellOut, writeYaml(changed))] as [string, string]] : []
  })
}

function spellOut(text: string, spelling: string, at: number): string {
  return text.replaceAll(spelled(at), () => spelling)
}
