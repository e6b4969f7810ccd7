/** The values a user gives on a command line, merged in Helm's order. */
import type { Dict } from './dict.ts'
import { JsonError, readJson } from '../functions/go/read-json.ts'
import { HelmError } from '../helm-error.ts'
import type { HelmProfile } from '../profile.ts'
import { UnmarshalError } from '../read-yaml.ts'
import { parseInto, StrvalsError } from './strvals.ts'
import type { StrvalsMode } from './strvals.ts'
import type { ValueLayer } from './value-origins.ts'
import { mergeMaps, readValues } from './values-file.ts'

/** Values flags as given; files are already read. */
export interface ValuesFlags {
  readonly files?: readonly { readonly name: string; readonly data: Uint8Array }[]
  readonly json?: readonly string[]
  readonly set?: readonly string[]
  readonly setString?: readonly string[]
  readonly setFile?: readonly string[]
  readonly setLiteral?: readonly string[]
  /** Reads a file named by --set-file. */
  readonly readFile?: (path: string) => string
}

/** Merges values files, then --set-json, --set, --set-string, --set-file, --set-literal. */
export function userValues(flags: ValuesFlags, profile: HelmProfile): Dict {
  let values: Dict = new Map()
  for (const { name, data } of flags.files ?? []) {
    try {
      values = mergeMaps(values, readValues(data, profile))
    } catch (error) {
      if (!(error instanceof UnmarshalError)) throw error
      throw new HelmError(`failed to parse ${name}: ${error.message}`)
    }
  }
  for (const text of flags.json ?? []) values = setJson(text, values, profile)
  const { endsInIndex } = profile
  const read = flags.readFile ?? (() => '')
  apply(flags.set, values, { kind: 'typed', endsInIndex }, '--set')
  apply(flags.setString, values, { kind: 'string', endsInIndex }, '--set-string')
  apply(flags.setFile, values, { kind: 'file', read, endsInIndex }, '--set-file')
  apply(flags.setLiteral, values, { kind: 'literal', endsInIndex }, '--set-literal')
  return values
}

/** The same values in the layers they came in, the weakest first. */
export function userValueLayers(flags: ValuesFlags, profile: HelmProfile): ValueLayer[] {
  const files = (flags.files ?? []).map(({ name, data }): ValueLayer => {
    return { kind: 'values file', source: name, values: userValues({ files: [{ name, data }] }, profile), text: data }
  })
  const each = (flag: string, texts: readonly string[] | undefined, only: (text: string) => ValuesFlags) =>
    (texts ?? []).map((text): ValueLayer => {
      return { kind: 'flag', source: `${flag} ${text}`, values: userValues(only(text), profile) }
    })
  const { readFile } = flags
  return [
    ...files,
    ...each('--set-json', flags.json, (text) => ({ json: [text] })),
    ...each('--set', flags.set, (text) => ({ set: [text] })),
    ...each('--set-string', flags.setString, (text) => ({ setString: [text] })),
    ...each('--set-file', flags.setFile, (text) => ({ setFile: [text], ...(readFile && { readFile }) })),
    ...each('--set-literal', flags.setLiteral, (text) => ({ setLiteral: [text] })),
  ]
}

function setJson(text: string, values: Dict, profile: HelmProfile): Dict {
  try {
    if (profile.jsonObjects && text.trim().startsWith('{')) {
      const object = readJson(text.trim())
      return mergeMaps(values, object as Dict)
    }
    parseInto(text, values, { kind: 'json', endsInIndex: profile.endsInIndex })
    return values
  } catch (error) {
    if (error instanceof JsonError) throw new HelmError(`failed parsing --set-json data JSON: ${text}`)
    if (error instanceof StrvalsError) throw new HelmError(`failed parsing --set-json data ${text}`)
    throw error
  }
}

function apply(texts: readonly string[] | undefined, values: Dict, mode: StrvalsMode, flag: string): void {
  for (const text of texts ?? []) {
    try {
      parseInto(text, values, mode)
    } catch (error) {
      if (!(error instanceof StrvalsError || error instanceof HelmError)) throw error
      throw new HelmError(`failed parsing ${flag} data: ${error.message}`)
    }
  }
}
