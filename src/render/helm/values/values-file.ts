/** Values files: what `-f` reads and what values.yaml in a chart holds. */
import { fromGoBytes } from '../../gotemplate/go-string.ts'
import type { Dict } from './dict.ts'
import { isTable } from './dict.ts'
import { trimSpace } from '../functions/strings.ts'
import type { HelmProfile } from '../profile.ts'
import { readYamlTable, UnmarshalError } from '../read-yaml.ts'
import type { Numbers } from '../read-yaml.ts'

/** Reads a values file; several documents are merged where the profile allows them. */
export function readValues(data: Uint8Array, profile: HelmProfile, numbers: Numbers = 'float64'): Dict {
  if (!profile.multiDocumentValues) return readYamlTable(data, numbers)
  let values: Dict = new Map()
  for (const document of splitDocuments(fromGoBytes(data))) {
    try {
      values = mergeMaps(values, readYamlTable(document, numbers))
    } catch (error) {
      if (!(error instanceof UnmarshalError)) throw error
      throw new UnmarshalError(`cannot unmarshal yaml document: ${error.message}`)
    }
  }
  return values
}

/**
 * The documents as Kubernetes' YAMLReader cuts them, at lines that start with `---` and continue only with a comment.
 * The first separator of a document stays in it; every line ends with a plain line end, also the last line.
 */
function* splitDocuments(text: string): Generator<string> {
  let current = ''
  for (const [line] of text.matchAll(/[^\n]*\n|[^\n]+$/g)) {
    const behind = line.startsWith('---') ? trimSpace(line.slice(3)) : undefined
    if (behind !== undefined && behind !== '' && !behind.startsWith('#')) {
      throw new UnmarshalError(`error reading yaml document: invalid Yaml document separator: ${behind}`)
    }
    if (behind !== undefined && current !== '') {
      yield current
      current = ''
    } else current += `${line.replace(/\r?\n$/, '')}\n`
  }
  if (current !== '') yield current
}

/** Merges two tables; the second wins, tables are merged. */
export function mergeMaps(a: Dict, b: Dict): Dict {
  const merged: Dict = new Map(a)
  for (const [key, value] of b) {
    const present = merged.get(key)
    merged.set(key, isTable(value) && isTable(present) ? mergeMaps(present, value) : value)
  }
  return merged
}
