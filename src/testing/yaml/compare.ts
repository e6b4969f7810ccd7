/**
 * Compares our YAML with helm's and Kustomize's; what comes back are the differences, so an empty list is agreement.
 */
import { isObject } from '../../core/json.ts'
import { goJson } from '../../yaml/go-json.ts'
import { compareKeys, sortedEntries } from '../../yaml/write/key-order.ts'
import { readFirstYaml, readNodes, readYamlDocument } from '../../yaml/read/read-yaml.ts'
import { writeNodes, writeYaml } from '../../yaml/write/write-yaml.ts'
import { YamlError } from '../../yaml/yaml.ts'
import { askHelm, askKustomize } from './oracle.ts'
import { yamlMapping } from './generated-texts.ts'
import type { Chance } from './generated-texts.ts'

/** One case where we differ. */
export interface Difference {
  readonly input: unknown
  readonly theirs: string | undefined
  readonly ours: string
}

/** Reads texts with `fromYaml` and with our reader. */
export function compareReading(helm: 'helm' | 'helm3', texts: readonly string[]): Difference[] {
  const { fromYaml } = askHelm(helm, { texts })
  const suspects = texts
    .map((input, i) => ({ input, theirs: fromYaml[i], ours: ourReading(input) }))
    .filter(({ theirs, ours }) => theirs !== ours)
  if (suspects.length === 0) return []
  // Go walks its maps in another order each time, so it does not always agree with itself.
  const again = Array.from({ length: 4 }, () => askHelm(helm, { texts: suspects.map(({ input }) => input) }).fromYaml)
  return suspects.filter(({ theirs, ours }, i) => {
    const isStable = again.every((answers) => answers[i] === theirs)
    return isStable && !(theirs?.includes('unsupported map key') && ours.includes('unsupported map key'))
  })
}

function ourReading(text: string): string {
  let value: unknown
  try {
    ;({ value } = readFirstYaml(text, { duplicateKeys: 'last' }))
  } catch (error) {
    if (!(error instanceof YamlError)) throw error
    return goJson({ Error: `error converting YAML to JSON: ${error.goMessage}` })
  }
  if (value === null) return '{}'
  if (isObject(value)) return goJson(value)
  const kind = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
  const problem = `json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`
  return goJson({ Error: `error unmarshaling JSON: while decoding JSON: ${problem}` })
}

/** Writes values with `toYaml`, `toYamlPretty` and `toJson`, and with our writers. */
export function compareWriting(helm: 'helm' | 'helm3', values: readonly unknown[]): Difference[] {
  const answers = askHelm(helm, { values })
  const differences = values.flatMap((input, i) => [
    { input, theirs: answers.toYaml[i], ours: ourWriting(() => writeYaml(input)) },
    { input, theirs: answers.toYamlPretty[i], ours: ourWriting(() => writeYaml(input, { style: 'v3' })) },
    { input, theirs: answers.toJson[i], ours: goJson(input) },
  ])
  return differences.filter(({ input, theirs, ours }) => theirs !== ours && !hasCircularKeys(input))
}

function ourWriting(write: () => string): string {
  try {
    return write().replace(/\n$/, '')
  } catch (error) {
    if (error instanceof YamlError) return ''
    throw error
  }
}

// Keys such as a10, a1b, a2 have no order, and Go's changes from run to run.
function hasCircularKeys(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasCircularKeys)
  if (!isObject(value)) return false
  const isCircular = [false, true].some((v3) => {
    const keys = sortedEntries(value, v3).map(([key]) => key)
    return keys.some((key, i) => keys.slice(i + 1).some((later) => compareKeys(key, later, v3) > 0))
  })
  return isCircular || Object.values(value).some(hasCircularKeys)
}

/** Sends resources with random contents through `kubectl kustomize`; errors are left out, since one fails all. */
export function compareKustomize(chance: Chance, count: number): Difference[] {
  const resources: string[] = []
  const expected: string[] = []
  while (resources.length < count) {
    const name = `r${resources.length}`
    const text = `apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: ${name}\nspec:\n${yamlMapping(chance, 2)}`
    // Merges are Kustomize's own business: it resolves them in the tree.
    if (text.includes('<<')) continue
    try {
      // Kustomize writes its trees and reads them again before it prints them by way of JSON.
      const again = writeNodes(readNodes(text, { resolver: '1.2' }))
      expected.push(writeYaml(readYamlDocument(again, { resolver: '1.2', integers: 'bigint' }).value))
      resources.push(text)
    } catch (error) {
      if (!(error instanceof YamlError)) throw error
    }
  }
  const documents = askKustomize(resources).split(/^---\n/m)
  return resources
    .map((input, i) => ({ input, theirs: documents[i], ours: expected[i]! }))
    .filter(({ theirs, ours }) => theirs !== ours)
}
