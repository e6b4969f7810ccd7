// Random charts with subcharts of every kind, and values over them; every chart prints all the values it sees.
import { chance, pick, seeded } from './random.ts'
import type { Random } from './random.ts'

/** A chart's files, values files and --set flags. */
export interface FuzzChart {
  readonly files: Readonly<Record<string, string>>
  readonly values: readonly string[]
  readonly sets: readonly string[]
}

type Value = string | number | boolean | null | Value[] | { [key: string]: Value }

const KEYS = [
  'a',
  'b',
  'c',
  'on',
  'global',
  'tags',
  'exports',
  'enabled',
  'one',
  'two',
  'three',
  'data',
  'x.y',
] as const
const NAMES = ['one', 'two', 'three'] as const
const DUMP = 'kind: K\nv: {{ toJson .Values | quote }}\nname: {{ .Chart.Name }}\n'

function scalar(random: Random): Value {
  return pick<() => Value>(random, [
    () => null,
    () => null,
    () => random(5),
    () => random(2) === 0,
    () => pick(random, ['s', '', 'long text', '5']),
    () => [random(3), null, 'l'],
    () => 1.5,
  ])()
}

/** Tables are likelier than anything else, so that layers meet. */
function table(random: Random, depth: number): { [key: string]: Value } {
  const made: { [key: string]: Value } = {}
  for (let count = random(5); count > 0; count--) {
    const key = pick(random, KEYS)
    if (key === 'tags') made[key] = { t1: random(2) === 0, t2: random(2) === 0 }
    else if (key === 'enabled') made[key] = pick<Value>(random, [true, false, true, 'no', null])
    else
      made[key] =
        depth > 0 && (random(3) > 0 || (NAMES.includes(key as 'one') && random(8) > 0))
          ? table(random, depth - 1)
          : scalar(random)
  }
  return made
}

/** Values for a chart: now and then one for each of its subcharts. */
function valuesFor(random: Random, depth: number): { [key: string]: Value } {
  const made = table(random, depth)
  if (chance(random, 2)) made['global'] = table(random, 2)
  for (const name of NAMES) if (chance(random, 2)) made[name] = table(random, depth)
  return made
}

function importOf(random: Random): Value {
  return pick<() => Value>(random, [
    () => 'data',
    () => 'a',
    () => ({
      child: pick(random, ['a', 'b', 'exports', 'global', 'one', 'nothing']),
      parent: pick(random, ['a', 'b.c', 'c', '.']),
    }),
  ])()
}

function requirement(random: Random, name: string): { [key: string]: Value } {
  const made: { [key: string]: Value } = { name, version: pick(random, ['*', '>=1.0.0', '1.x']) }
  if (chance(random, 3)) made['alias'] = pick(random, ['alias', 'other', ...NAMES])
  if (chance(random, 2))
    made['condition'] = pick(random, [`${name}.enabled`, 'enabled', 'a.enabled,b.enabled', 'global.on'])
  if (chance(random, 3)) made['tags'] = [pick(random, ['t1', 't2', 't3'])]
  if (chance(random, 2)) made['import-values'] = Array.from({ length: 1 + random(2) }, () => importOf(random))
  return made
}

function addChart(
  random: Random,
  files: Record<string, string>,
  at: { path: string; name: string; depth: number },
): void {
  const { path, name, depth } = at
  const children = NAMES.filter(() => depth > 0 && chance(random, 2))
  const chart: { [key: string]: Value } = { apiVersion: 'v2', name, version: '1.2.3' }
  const requirements = children.flatMap((child) => {
    if (chance(random, 4)) return []
    return Array.from({ length: chance(random, 4) ? 2 : 1 }, () => requirement(random, child))
  })
  // Two of one name are refused; once in a while that is tried too.
  const names = requirements.map((one) => one['alias'] ?? one['name'])
  const kept = chance(random, 30) ? requirements : requirements.filter((_, at) => names.indexOf(names[at]) === at)
  if (kept.length > 0) chart['dependencies'] = kept
  files[`${path}Chart.yaml`] = JSON.stringify(chart)
  if (!chance(random, 5)) files[`${path}values.yaml`] = JSON.stringify(valuesFor(random, 3))
  files[`${path}templates/v.yaml`] = DUMP
  for (const child of children) {
    addChart(random, files, { path: `${path}charts/${child}/`, name: child, depth: depth - 1 })
  }
}

/** A random chart of a seed. */
export function fuzzChart(seed: number): FuzzChart {
  const random = seeded(seed * 7919 + 17)
  for (let warm = 0; warm < 5; warm++) random(10)
  const files: Record<string, string> = {}
  addChart(random, files, { path: '', name: 'top', depth: 2 })
  const values = Array.from({ length: random(3) }, () => JSON.stringify(valuesFor(random, 3)))
  const sets = Array.from({ length: random(3) }, () => {
    const path = Array.from({ length: 1 + random(3) }, () =>
      pick(random, ['a', 'b', 'one', 'two', 'global', 'enabled']),
    )
    return `${path.join('.')}=${pick(random, ['null', '1', 'x', 'true', '{1,2}', ''])}`
  })
  return { files, values, sets }
}
