/** What Helm does with rendered text: cuts it into documents, tells hooks from the rest, sorts by kind. */
import { decodeYaml } from './chart/decode-struct.ts'
import type { Decoded, FieldType } from './chart/decode-struct.ts'
import { HelmError } from './helm-error.ts'
import type { HelmProfile } from './profile.ts'
import { UnmarshalError } from './read-yaml.ts'

/** A document of a template's output. */
export interface Manifest {
  /** The template's full name. */
  readonly path: string
  readonly content: string
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
}

/** A document that runs at certain moments instead of being part of the release. */
export interface Hook extends Manifest {
  readonly events: readonly string[]
  readonly weight: number
  readonly deletePolicies: readonly string[]
  readonly outputLogPolicies: readonly string[]
}

const SPACE = '[\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]'
const LEADING = new RegExp(`^${SPACE}+`)
const BLANK = new RegExp(`^${SPACE}*$`)

const TRAILING = new RegExp(`${SPACE}+$`)

/** Cuts text at `---`, wherever a line starts with it. */
export function splitManifests(text: string, profile: HelmProfile): string[] {
  // Go's \s is ASCII only, without the vertical tab.
  const documents = text.replace(LEADING, '').split(/(?:^|[\t\n\f\r ]*\n)---[\t\n\f\r ]*/)
  const trim = (document: string) => {
    const started = document.replace(LEADING, '')
    return profile.trimsDocuments ? started.replace(TRAILING, '') : started
  }
  return documents.filter((document) => !BLANK.test(document)).map(trim)
}

const EVENTS = new Set([
  'pre-install',
  'post-install',
  'pre-delete',
  'post-delete',
  'pre-upgrade',
  'post-upgrade',
  'pre-rollback',
  'post-rollback',
  'test',
])

const STRING: FieldType = { kind: 'string' }
const HEAD: FieldType & { kind: 'struct' } = {
  kind: 'struct',
  name: 'SimpleHead',
  fields: {
    apiVersion: STRING,
    kind: STRING,
    metadata: {
      kind: 'struct',
      name: 'struct { Name string "json:\\"name\\""; Annotations map[string]string "json:\\"annotations\\"" }',
      fields: { name: STRING, annotations: { kind: 'stringMap' } },
    },
  },
}

/** Hooks and manifests of rendered files, each sorted by kind. */
export function sortManifests(
  files: ReadonlyMap<string, string>,
  profile: HelmProfile,
): { readonly hooks: Hook[]; readonly manifests: Manifest[] } {
  const hooks: Hook[] = []
  const manifests: Manifest[] = []
  for (const [path, text] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (path.slice(path.lastIndexOf('/') + 1).startsWith('_') || BLANK.test(text)) continue
    for (const content of splitManifests(text, profile)) {
      const head = readHead(content, { path, files, hooks }, profile)
      const metadata = (head['metadata'] ?? {}) as Decoded
      const annotations = (metadata['annotations'] ?? new Map()) as ReadonlyMap<string, string>
      const manifest: Manifest = {
        path,
        content,
        apiVersion: (head['apiVersion'] as string | undefined) ?? '',
        kind: (head['kind'] as string | undefined) ?? '',
        name: (metadata['name'] as string | undefined) ?? '',
      }
      const types = annotations.get('helm.sh/hook')
      if (types === undefined) manifests.push(manifest)
      else {
        const events = hookEvents(types)
        if (events) hooks.push({ ...manifest, events, ...hookRules(annotations) })
      }
    }
  }
  return { hooks: sortByKind(hooks, profile), manifests: sortByKind(manifests, profile) }
}

// The same documents come again and again: static ones with every render, most others with every other cluster.
const heads = new Map<string, Decoded>()
const MAX_CACHED_CHARACTERS = 16 * 1024 * 1024
let cachedCharacters = 0

interface Origin {
  readonly path: string
  readonly files: ReadonlyMap<string, string>
  readonly hooks: readonly Hook[]
}

function readHead(content: string, from: Origin, profile: HelmProfile): Decoded {
  const known = heads.get(content)
  if (known) return known
  const head = decodeHead(content, from, profile)
  if (cachedCharacters + content.length > MAX_CACHED_CHARACTERS) {
    heads.clear()
    cachedCharacters = 0
  }
  if (content.length <= MAX_CACHED_CHARACTERS) {
    heads.set(content, head)
    cachedCharacters += content.length
  }
  return head
}

function decodeHead(content: string, { path, files, hooks }: Origin, profile: HelmProfile): Decoded {
  try {
    return decodeYaml(content, HEAD, profile.name === 'helm4' ? 'util.SimpleHead' : 'releaseutil.SimpleHead')
  } catch (error) {
    if (!(error instanceof UnmarshalError)) throw error
    throw new HelmError(`YAML parse error on ${path}: ${error.message}`, { cause: error, rendered: true, files, hooks })
  }
}

/** The events of a hook annotation; undefined when one of them is unknown, which drops the document. */
function hookEvents(types: string): string[] | undefined {
  const events: string[] = []
  for (const type of types.split(',')) {
    const event = type.trim().toLowerCase()
    if (event === 'test-success') events.push('test')
    else if (EVENTS.has(event)) events.push(event)
    else return undefined
  }
  return events
}

function hookRules(
  annotations: ReadonlyMap<string, string>,
): Pick<Hook, 'weight' | 'deletePolicies' | 'outputLogPolicies'> {
  const list = (name: string) =>
    annotations.has(name)
      ? annotations
          .get(name)!
          .split(',')
          .map((item) => item.trim().toLowerCase())
      : []
  const weight = annotations.get('helm.sh/hook-weight') ?? ''
  return {
    weight: /^[+-]?\d{1,18}$/.test(weight) ? Number(weight) : 0,
    deletePolicies: list('helm.sh/hook-delete-policy'),
    outputLogPolicies: list('helm.sh/hook-output-log-policy'),
  }
}

/** Stable: known kinds in install order, then the others by name. */
function sortByKind<T extends Manifest>(items: readonly T[], profile: HelmProfile): T[] {
  const order = new Map(profile.kindOrder.map((kind, index) => [kind, index]))
  return items.toSorted((a, b) => {
    const [first, second] = [order.get(a.kind), order.get(b.kind)]
    if (first !== undefined && second !== undefined) return first - second
    if (first !== undefined) return -1
    if (second !== undefined) return 1
    return a.kind < b.kind ? -1 : a.kind > b.kind ? 1 : 0
  })
}
