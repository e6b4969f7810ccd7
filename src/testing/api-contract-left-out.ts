import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { isObject, jsonClone } from '../core/json.ts'
import { openApiPath } from '../kinds/openapi.ts'
import { exampleKind, titleOf } from './api-contract-builtin.ts'
import type { Api, ApiCase } from './api-contract-harness.ts'
import { BUILTIN_EXAMPLES } from './builtin-examples.ts'
import type { BuiltinExample } from './builtin-examples.ts'

/** Built-in kinds with one field left out: what a kube-apiserver takes is taken, and no home stumbles over what is not there. */

type Path = readonly (string | number)[]

/** The paths of all fields of an object that its kind has; of a list its first item stands for all. */
function pathsOf(value: unknown, at: Path = []): Path[] {
  if (Array.isArray(value)) return value.length > 0 ? pathsOf(value[0], [...at, 0]) : []
  if (!isObject(value)) return []
  return Object.entries(value)
    .filter(([field]) => at.length > 0 || !['apiVersion', 'kind', 'metadata'].includes(field))
    .flatMap(([field, child]) => [[...at, field], ...pathsOf(child, [...at, field])])
}

function without(object: unknown, path: Path): unknown {
  const copy = jsonClone(object)
  let inside = copy as Record<string | number, unknown>
  for (const field of path.slice(0, -1)) inside = inside[field] as Record<string | number, unknown>
  delete inside[path.at(-1)!]
  return copy
}

/** Which fields of an example a home cannot do without. */
export async function missedBy(api: Api, example: BuiltinExample): Promise<string[]> {
  const kind = exampleKind(example)
  const place = kind.scope === 'Namespaced' ? `/namespaces/${api.namespace}` : ''
  const text = JSON.stringify({ ...example.object, metadata: { name: 'shown', ...example.object.metadata } })
  const object = JSON.parse(text.replaceAll('NAMESPACE', api.namespace)) as unknown
  const missed: string[] = []
  for (const path of pathsOf(object)) {
    const { status, text: answer } = await api.send('POST', `/${openApiPath(kind)}${place}/${kind.plural}?dryRun=All`, {
      body: without(object, path),
    })
    assert.ok(status < 500, `${titleOf(example)} without ${path.join('.')}: ${answer}`)
    if (status !== 201) missed.push(path.join('.'))
  }
  return missed
}

/** Where it is kept what a kube-apiserver misses, by the title of each example. */
export const MISSED_FILE = new URL('./fixtures/builtin-missed.json', import.meta.url)

/** One case per example. */
export const LEFT_OUT_CASES: readonly ApiCase[] = BUILTIN_EXAMPLES.map((example) => ({
  title: `${titleOf(example)} may lack what Kubernetes lets it lack`,
  async run(api) {
    const known = JSON.parse(readFileSync(MISSED_FILE, 'utf8')) as Readonly<Record<string, readonly string[]>>
    const refused = await missedBy(api, example)
    assert.deepEqual(
      refused.filter((path) => !known[titleOf(example)]?.includes(path)),
      [],
    )
  },
}))
