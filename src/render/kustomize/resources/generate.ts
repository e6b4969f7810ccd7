/** ConfigMaps and Secrets from literals, files and env files. */
import { BEHAVIOR, NEEDS_HASH } from './build-annotations.ts'
import { addConfigMapEntry, addSecretEntry, bytesOf, textIfUtf8 } from './generated-data.ts'
import type { GeneratorArgs, GeneratorOptions } from '../kustomization.ts'
import { KustomizeError, inContext } from '../kustomize-error.ts'
import type { Loader } from '../loader.ts'
import { lookup, setField, stringScalar } from '../nodes/node.ts'
import type { YamlNode } from '../nodes/node.ts'
import { Resource, annotateNode, labelNode } from './resource.ts'
import { makeNode } from '../../../yaml/node.ts'

/** Makes a ConfigMap or a Secret. */
export function generate(kind: 'ConfigMap' | 'Secret', args: GeneratorArgs, loader: Loader): Resource {
  if (args.name === '') throw new KustomizeError('a configmap must have a name')
  const node = makeNode('mapping', { tag: '!!map' })
  setField(node, 'apiVersion', stringScalar('v1'))
  setField(node, 'kind', stringScalar(kind))
  const metadata = lookup(node, ['metadata'], 'mapping')!
  setField(metadata, 'name', stringScalar(args.name))
  if (args.namespace !== '') setField(metadata, 'namespace', stringScalar(args.namespace))
  if (kind === 'Secret') setField(node, 'type', stringScalar(args.type || 'Opaque'))
  const entries = loadEntries(args, loader)
  if (kind === 'Secret') {
    const data = lookup(node, ['data'], 'mapping')!
    for (const key of [...entries.keys()].sort()) addSecretEntry(data, key, entries.get(key)!)
  } else for (const key of [...entries.keys()].sort()) addConfigMapEntry(node, key, entries.get(key)!)
  if (args.options) applyOptions(node, args.options)
  const resource = new Resource(node)
  if (!args.options?.disableNameSuffixHash) resource.enable(NEEDS_HASH)
  const { behavior } = args
  const known = behavior === 'create' || behavior === 'merge' || behavior === 'replace' ? behavior : 'unspecified'
  resource.setAnnotations(resource.annotations.set(BEHAVIOR, known))
  return resource
}

function applyOptions(node: YamlNode, options: GeneratorOptions): void {
  for (const [key, value] of sorted(options.labels)) labelNode(node, key, value)
  for (const [key, value] of sorted(options.annotations)) annotateNode(node, key, value)
  if (options.immutable) setField(node, 'immutable', makeNode('scalar', { tag: '!!bool', value: 'true' }))
}

function sorted(map: ReadonlyMap<string, string>): [string, string][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1))
}

function loadEntries(args: GeneratorArgs, loader: Loader): Map<string, Uint8Array> {
  const pairs = inContext('loading KV pairs', () => [
    ...inContext(`env source files: ${list(args.envs)}`, () =>
      args.envs.flatMap((path) => envPairs(loader.load(path))),
    ),
    ...inContext(`literal sources ${list(args.literals)}`, () => args.literals.map(literalPair)),
    ...inContext(`file sources: ${list(args.files)}`, () => args.files.map((source) => filePair(source, loader))),
  ])
  const entries = new Map<string, Uint8Array>()
  for (const [key, value] of pairs) {
    if (entries.has(key)) throw new KustomizeError(`configmap ${args.name} illegally repeats the key \`${key}\``)
    entries.set(key, value)
  }
  return entries
}

function list(items: readonly string[]): string {
  return `[${items.join(' ')}]`
}

type Pair = [string, Uint8Array]

function literalPair(source: string): Pair {
  const at = source.indexOf('=')
  if (at <= 0) throw new KustomizeError(`invalid literal source ${source}, expected key=value`)
  return [source.slice(0, at), bytesOf(withoutQuotes(source.slice(at + 1)))]
}

function withoutQuotes(text: string): string {
  return /^(["'])[^]*\1$/.test(text) && text.length > 1 ? text.slice(1, -1) : text
}

function filePair(source: string, loader: Loader): Pair {
  const count = source.split('=').length - 1
  if (count === 0) return [baseName(source), loader.load(source)]
  const quoted = JSON.stringify(source)
  if (count > 1) throw new KustomizeError(`source ${quoted} key name or file path contains '='`)
  const [key, path] = source.split('=') as [string, string]
  if (key === '') {
    throw new KustomizeError(`missing key name for file path ${JSON.stringify(path)} in source ${quoted}`)
  }
  if (path === '') {
    throw new KustomizeError(`missing file path for key name ${JSON.stringify(key)} in source ${quoted}`)
  }
  return [key, loader.load(path)]
}

function baseName(path: string): string {
  const trimmed = path.replace(/\/+$/, '')
  if (trimmed === '') return path === '' ? '.' : '/'
  return trimmed.slice(trimmed.lastIndexOf('/') + 1)
}

// A line that does not fit Go's scanner ends the file, without a word.
const LONGEST_LINE = 64 * 1024

function envPairs(content: Uint8Array): Pair[] {
  const pairs: Pair[] = []
  let start = 0
  for (let number = 0; start < content.length; number++) {
    let end = content.indexOf(10, start)
    if (end < 0) end = content.length
    if (end - start >= LONGEST_LINE) break
    let line = content.subarray(start, end)
    start = end + 1
    if (line.at(-1) === 13) line = line.subarray(0, -1)
    const pair = envPair(line, number)
    if (pair) pairs.push(pair)
  }
  return pairs
}

function envPair(line: Uint8Array, number: number): Pair | undefined {
  const raw = textIfUtf8(line)
  if (raw === undefined) {
    throw new KustomizeError(`line [${[...line].join(' ')}] has invalid utf8 bytes : ${new TextDecoder().decode(line)}`)
  }
  const text = (number === 0 ? raw.replace(/^\ufeff/, '') : raw).replace(
    /^[\t-\r \u0085\u00a0\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\u1680]+/,
    '',
  )
  if (text === '' || text.startsWith('#')) return undefined
  const at = text.indexOf('=')
  const key = at < 0 ? text : text.slice(0, at)
  return key === '' ? undefined : [key, bytesOf(at < 0 ? '' : text.slice(at + 1))]
}
