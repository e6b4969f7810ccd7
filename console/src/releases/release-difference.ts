/** What a Release changes: its contents beside those of an earlier Release, and their objects by digest. */
import type { Release } from '../../../src/kinds/native/release.ts'

type Released = Release['spec']['bundles'][number]

/** Clusters whose content goes from one set to another. */
export interface ContentChange {
  /** Inputs of these clusters, for example `region=north`; empty: all clusters. */
  readonly inputs: readonly string[]
  /** Absent: there was no content for them. */
  readonly before: string | undefined
  /** Absent: nothing is delivered to them now. */
  readonly after: string | undefined
}

/** The contents of a bundle in two Releases, side by side; those that are equal are counted. */
export function contentChanges(
  before: Released | undefined,
  after: Released,
): { readonly changes: readonly ContentChange[]; readonly same: number } {
  const earlier = new Map(before ? variantsOf(before) : [])
  const groups = new Map<string, { inputs: string[]; before: string | undefined; after: string | undefined }>()
  let same = 0
  for (const [inputs, set] of variantsOf(after)) {
    // Content for all clusters is the earlier content of any group, and the other way round.
    const old = earlier.get(inputs) ?? (earlier.size === 1 ? earlier.get('') : undefined)
    if (old === set) {
      same += 1
      continue
    }
    const key = `${old} ${set}`
    const group = groups.get(key) ?? { inputs: [], before: old, after: set }
    if (inputs !== '') group.inputs.push(inputs)
    groups.set(key, group)
  }
  return { changes: [...groups.values()], same }
}

/** Sets by the inputs that choose them. */
function variantsOf({ set, variants }: Released): readonly (readonly [string, string | undefined])[] {
  if (!variants || variants.length === 0) return [['', set]]
  return variants.map(({ when, set: own }) => [
    Object.entries(when)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]) => `${key}=${value}`)
      .join(', '),
    own,
  ])
}

/** A row of releaseobjects, as far as a comparison needs it. */
export interface ReleasedObject {
  readonly object: {
    readonly apiVersion: string
    readonly kind: string
    readonly namespace?: string
    readonly name: string
    readonly digest: string
  }
}

export interface ObjectChange {
  readonly verb: 'added' | 'changed' | 'removed'
  readonly kind: string
  readonly namespace: string | undefined
  readonly name: string
}

/** Objects that are not the same in both, ordered by kind and name, and the number of those that are. */
export function objectChanges(
  before: readonly ReleasedObject[],
  after: readonly ReleasedObject[],
): { readonly changes: readonly ObjectChange[]; readonly same: number } {
  const old = new Map(before.map((row) => [idOf(row), row.object]))
  const now = new Map(after.map((row) => [idOf(row), row.object]))
  const changes = [
    ...[...now].flatMap(([id, object]) => {
      const was = old.get(id)
      if (was?.digest === object.digest) return []
      return [changeOf(was ? 'changed' : 'added', object)]
    }),
    ...[...old].flatMap(([id, object]) => (now.has(id) ? [] : [changeOf('removed', object)])),
  ]
  const key = ({ kind, namespace = '', name }: ObjectChange): string => `${kind} ${namespace} ${name}`
  return {
    changes: changes.toSorted((a, b) => (key(a) < key(b) ? -1 : 1)),
    same: now.size - changes.filter(({ verb }) => verb !== 'removed').length,
  }
}

/** Changed objects, or why there are none to show: `nothing` is delivered, or the objects are `unknown`. */
export type ContentComparison = ReturnType<typeof objectChanges> | 'nothing' | 'unknown'

/** Compares the objects of two sets. A set without an object is one that the hub does not have. */
export function compareContents(
  { before, after }: Pick<ContentChange, 'before' | 'after'>,
  old: readonly ReleasedObject[],
  now: readonly ReleasedObject[],
): ContentComparison {
  if (after === undefined) return 'nothing'
  if (now.length === 0 || (before !== undefined && old.length === 0)) return 'unknown'
  return objectChanges(old, now)
}

function changeOf(verb: ObjectChange['verb'], { kind, namespace, name }: ReleasedObject['object']): ObjectChange {
  return { verb, kind, namespace, name }
}

/** The version of an API is not part of what an object is. */
function idOf({ object: { apiVersion, kind, namespace = '', name } }: ReleasedObject): string {
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
  return JSON.stringify([group, kind, namespace, name])
}

/** The Release of a bundle before one of its generations. */
export function releaseBefore(
  releases: readonly Release[],
  bundle: string,
  generation: number,
): { readonly release: Release; readonly entry: Released } | undefined {
  return releases
    .flatMap((release) => {
      const entry = release.spec.bundles.find(({ name }) => name === bundle)
      return entry && entry.generation < generation ? [{ release, entry }] : []
    })
    .toSorted((a, b) => b.entry.generation - a.entry.generation)[0]
}
