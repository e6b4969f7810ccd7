// Tested by src/dialects/flux/recorded.contract.test.ts.
/** The values of a HelmRelease: its `valuesFrom` in order, and the inline values, merged as Flux merges them. */
import { hex, sha256, utf8 } from '../../../core/bytes.ts'
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { toYaml } from '../../../render/helm/functions/yaml.ts'
import { HELM_4 } from '../../../render/helm/profile.ts'
import { readYamlTable, UnmarshalError } from '../../../render/helm/read-yaml.ts'
import { jsonFromTable, tableFromJson } from '../../../render/helm/values/dict.ts'
import type { Dict } from '../../../render/helm/values/dict.ts'
import { parseInto, StrvalsError } from '../../../render/helm/values/strvals.ts'
import { mergeMaps } from '../../../render/helm/values/values-file.ts'

/** An entry of `spec.valuesFrom`. */
export interface ValuesReference {
  readonly kind: string
  readonly name: string
  readonly valuesKey?: string
  readonly targetPath?: string
  readonly optional?: boolean
  /** If true, the value of a targetPath is taken as it is, without `--set` syntax. */
  readonly literal?: boolean
}

/** Reads the decoded data of a ConfigMap or Secret; undefined where the object does not exist. */
export type ReadValuesData = (kind: string, name: string) => ReadonlyMap<string, string> | undefined

/** What the values of a release are made of. */
export interface ReleaseValuesInput {
  readonly namespace: string
  /** `spec.values`. */
  readonly values?: JsonObject
  readonly valuesFrom: readonly ValuesReference[]
  readonly read: ReadValuesData
}

/** The merged values, with the text and the digest that Flux records as `lastAttemptedConfigDigest`. */
export interface ReleaseValues {
  readonly values: JsonObject
  readonly encoded: string
  readonly digest: string
}

/** Why a reference cannot be resolved. */
export type ValuesProblem =
  | 'resource not found'
  | 'key not found'
  | 'failed to read values data'
  | 'failed to merge value'

/** A reference that cannot be resolved, in Flux's words. */
export class ValuesError extends Error {
  override readonly name = 'ValuesError'
  readonly reason: ValuesProblem

  constructor(reason: ValuesProblem, message: string) {
    super(message)
    this.reason = reason
  }
}

const DEFAULT_KEY = 'values.yaml'
const { endsInIndex } = HELM_4
const PLURALS: Readonly<Record<string, string>> = { ConfigMap: 'configmaps', Secret: 'secrets' }

/** Merges the values of a release; throws ValuesError. */
export function releaseValues({ namespace, values = {}, valuesFrom, read }: ReleaseValuesInput): ReleaseValues {
  const inline = tableFromJson(values) as Dict
  let result: Dict = new Map()
  for (const reference of valuesFrom) {
    const { kind, name, valuesKey = '', targetPath = '', optional = false } = reference
    const key = valuesKey || DEFAULT_KEY
    const fail = (reason: ValuesProblem, message: string): ValuesError =>
      new ValuesError(
        reason,
        `could not resolve ${optional ? 'optional ' : ''}${kind} chart values reference '${namespace}/${name}' with key '${key}': ${message}`,
      )
    const plural = PLURALS[kind]
    if (plural === undefined) throw fail('failed to read values data', `unsupported ValuesReference kind "${kind}"`)
    const data = read(kind, name)
    if (!data && optional) continue
    if (!data) throw fail('resource not found', `${plural} "${name}" not found`)
    const text = data.get(key)
    if (text === undefined && optional) continue
    if (text === undefined) throw fail('key not found', 'key not found')
    if (targetPath !== '') {
      // The tables of the inline values are shared and not copied, so a nested path changes them, too. Flux's users
      // rely on the result: the value of a path wins over an inline one where no reference before had the same table.
      result = mergeMaps(result, inline)
      setPath(result, { path: `${targetPath}=`, text, literal: reference.literal ?? false }, fail)
    } else {
      result = mergeMaps(result, readData(text, fail))
    }
  }
  const merged = mergeMaps(result, inline)
  const encoded = `${toYaml(merged)}\n`
  return {
    values: jsonFromTable(merged) as JsonObject,
    encoded,
    // Flux takes the digest of nothing where there are no values.
    digest: `sha256:${hex(sha256(utf8(merged.size === 0 ? '' : encoded)))}`,
  }
}

type Fail = (reason: ValuesProblem, message: string) => ValuesError

function readData(text: string, fail: Fail): Dict {
  try {
    return readYamlTable(text)
  } catch (caught) {
    if (!(caught instanceof UnmarshalError)) throw caught
    throw fail('failed to read values data', caught.message)
  }
}

function setPath(
  target: Dict,
  { path, text, literal }: { readonly path: string; readonly text: string; readonly literal: boolean },
  fail: Fail,
): void {
  const isQuoted = ["'", '"'].some((quote) => text.startsWith(quote) && text.endsWith(quote))
  try {
    // A literal is set as `--set-file` sets the content of a file.
    if (literal) parseInto(`${path}literal`, target, { kind: 'file', read: () => text, endsInIndex })
    else if (isQuoted) parseInto(path + trimQuotes(text), target, { kind: 'string', endsInIndex })
    else parseInto(path + text, target, { kind: 'typed', endsInIndex })
  } catch (caught) {
    if (!(caught instanceof StrvalsError)) throw caught
    throw fail('failed to merge value', caught.message)
  }
}

function trimQuotes(text: string): string {
  const isQuote = (char: string | undefined): boolean => char === "'" || char === '"'
  let start = 0
  let end = text.length
  while (start < end && isQuote(text[start])) start += 1
  while (end > start && isQuote(text[end - 1])) end -= 1
  return text.slice(start, end)
}

/** The decoded data of a ConfigMap or Secret, as references read it; undefined for data that is not base64. */
export function objectData(object: JsonObject, decode: (base64: string) => string | undefined): Map<string, string> {
  const data = new Map<string, string>()
  const isSecret = object['kind'] === 'Secret'
  for (const [key, value] of Object.entries(isObject(object['data']) ? object['data'] : {})) {
    const text = isSecret ? decode(String(value)) : String(value)
    if (text !== undefined) data.set(key, text)
  }
  if (isSecret && isObject(object['stringData'])) {
    for (const [key, value] of Object.entries(object['stringData'])) data.set(key, String(value))
  }
  return data
}
