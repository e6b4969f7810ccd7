/**
 * Effects of a change on a fleet: clusters with the same effect are one group. Each combination of contents before and
 * after is compared once, so that the cost follows the number of distinct variants.
 */
import { utf8, zstd } from '../../core/bytes.ts'
import { compact } from '../../core/compact.ts'
import { canonicalJson } from '../../core/json.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { fieldChanges, objectChanges } from '../objects/object-changes.ts'
import type { FieldChange } from '../objects/object-changes.ts'
import { describeObject, objectKey } from '../objects/object-id.ts'

/** The content of a bundle for some clusters. */
export interface DiffContent {
  readonly clusters: readonly string[]
  readonly content:
    | {
        readonly kind: 'Objects'
        readonly objects: readonly UnknownObject[]
        /** The bundle's options. */
        readonly options?: object | undefined
      }
    | { readonly kind: 'Problem'; readonly problem: string }
    | { readonly kind: 'Skip'; readonly by: string }
}

/** An object with drift, as the agent reports it. */
export interface DriftedObject {
  readonly object: string
  readonly fields: readonly string[]
  /** RFC 3339. */
  readonly since: string
}

/** A bundle, before and after. */
export interface BundleChange {
  readonly before: readonly DiffContent[]
  readonly after: readonly DiffContent[]
  /** Reported drift, by cluster. */
  readonly drift: ReadonlyMap<string, readonly DriftedObject[]>
}

/** The change of an object. */
export interface ObjectDiff {
  /** `Deployment shop/web`. */
  readonly object: string
  readonly change: 'added' | 'removed' | 'changed'
  readonly fields: readonly FieldChange[]
}

/** The effect on the clusters of a group. */
export type Effect = 'changed' | 'gained' | 'lost' | 'skipped' | 'mended' | 'cannot-render' | 'same'

/** Clusters with the same effect. */
export interface DiffGroup {
  readonly effect: Effect
  readonly clusters: readonly string[]
  readonly objects: readonly ObjectDiff[]
  /** Changes of the bundle's options. */
  readonly options?: readonly FieldChange[]
  /** Why the bundle cannot be rendered, or the variant that excludes the cluster. */
  readonly reason?: string
  /** The bundle could not be rendered before either. */
  readonly isOld?: true
  /** Drift that applying the new content reverts. */
  readonly reverts?: readonly DriftedObject[]
  /** Approximate number of bytes per cluster: changed objects, compressed against the present content. */
  readonly bytes: number
}

/** The effects of a change on a bundle's clusters, largest effect first. */
export function diffBundle({ before, after, drift }: BundleChange): DiffGroup[] {
  const was = indexOf(before)
  const is = indexOf(after)
  const effects = new Map<string, Omit<DiffGroup, 'clusters'>>()
  const groups = new Map<string, { readonly group: Omit<DiffGroup, 'clusters'>; readonly clusters: string[] }>()
  for (const cluster of [...new Set([...was.keys(), ...is.keys()])].sort()) {
    const [old, now] = [was.get(cluster), is.get(cluster)]
    const pair = `${old ?? ''} ${now ?? ''}`
    const effect = effects.get(pair) ?? effectOf(content(before, old), content(after, now))
    effects.set(pair, effect)
    const drifted = effect.effect === 'changed' ? drift.get(cluster) : undefined
    const group = drifted === undefined || drifted.length === 0 ? effect : { ...effect, reverts: drifted }
    // The time of the drift differs per cluster, so only objects and fields decide the group.
    const key = canonicalJson({
      ...group,
      bytes: 0,
      reverts: drifted?.map(({ object, fields }) => ({ object, fields })),
    })
    const known = groups.get(key)
    if (known) known.clusters.push(cluster)
    else groups.set(key, { group, clusters: [cluster] })
  }
  const order: readonly Effect[] = ['changed', 'gained', 'mended', 'skipped', 'lost', 'cannot-render', 'same']
  return [...groups.values()]
    .map(({ group, clusters }) => ({ ...group, clusters }))
    .toSorted(
      (a, b) =>
        order.indexOf(a.effect) - order.indexOf(b.effect) ||
        Number(a.reverts !== undefined) - Number(b.reverts !== undefined) ||
        b.clusters.length - a.clusters.length,
    )
}

function indexOf(contents: readonly DiffContent[]): Map<string, number> {
  return new Map(contents.flatMap(({ clusters }, index) => clusters.map((name) => [name, index] as const)))
}

type Content = DiffContent['content'] | undefined

function content(contents: readonly DiffContent[], index: number | undefined): Content {
  return index === undefined ? undefined : contents[index]?.content
}

function effectOf(before: Content, after: Content): Omit<DiffGroup, 'clusters'> {
  const nothing = { objects: [], bytes: 0 }
  if (after?.kind === 'Problem') {
    const isOld = before?.kind === 'Problem' && before.problem === after.problem
    return {
      effect: 'cannot-render',
      ...nothing,
      reason: after.problem,
      ...compact({ isOld: isOld ? true : undefined }),
    }
  }
  const had = before?.kind === 'Objects' ? before.objects : []
  if (after?.kind !== 'Objects') {
    // A cluster whose content could not be rendered may have older content.
    if (before === undefined || before.kind === 'Skip') return { effect: 'same', ...nothing }
    const objects = compareObjects(had, []).objects
    return after === undefined
      ? { effect: 'lost', objects, bytes: 0 }
      : { effect: 'skipped', objects, bytes: 0, reason: after.by }
  }
  const { objects, bytes } = compareObjects(had, after.objects)
  if (before?.kind === 'Problem') return { effect: 'mended', objects, bytes, reason: before.problem }
  if (before?.kind !== 'Objects') return { effect: 'gained', objects, bytes }
  const options = fieldChanges(before.options ?? {}, after.options ?? {})
  const effect = objects.length === 0 && options.length === 0 ? 'same' : 'changed'
  return compact({ effect, objects, bytes, options: options.length === 0 ? undefined : options })
}

function compareObjects(
  before: readonly UnknownObject[],
  after: readonly UnknownObject[],
): { readonly objects: ObjectDiff[]; readonly bytes: number } {
  const idOf = ({ apiVersion, kind, metadata }: UnknownObject) => ({ ...metadata, apiVersion, kind })
  const old = new Map(before.map((object) => [objectKey(idOf(object)), object]))
  const now = new Map(after.map((object) => [objectKey(idOf(object)), object]))
  const objects: ObjectDiff[] = []
  let bytes = 0
  for (const key of new Set([...old.keys(), ...now.keys()])) {
    const [was, is] = [old.get(key), now.get(key)]
    const object = describeObject(idOf((is ?? was)!))
    if (is === undefined) objects.push({ object, change: 'removed', fields: [] })
    else if (was === undefined) {
      objects.push({ object, change: 'added', fields: [] })
      bytes += zstd(utf8(canonicalJson(is))).byteLength
    } else {
      const fields = objectChanges(was, is)
      if (fields.length === 0) continue
      objects.push({ object, change: 'changed', fields })
      bytes += zstd(utf8(canonicalJson(is)), utf8(canonicalJson(was))).byteLength
    }
  }
  objects.sort((a, b) => (a.object < b.object ? -1 : 1))
  return { objects, bytes }
}
