/** Bundles that have the same object on the same cluster. */
import type { UnknownObject } from '../../kinds/meta.ts'
import { differences } from '../differences.ts'
import { describeObject, objectKey } from '../object-id.ts'
import { finding, someOf } from './finding.ts'
import type { Finding } from './finding.ts'

/** One content of a bundle, and who gets it. */
export interface PlacedContent {
  /** `namespace/name`. */
  readonly bundle: string
  /** Names of clusters. */
  readonly clusters: readonly string[]
  readonly objects: readonly UnknownObject[]
}

/** A finding about a bundle's object. */
export interface OverlapFinding extends Finding {
  readonly bundle: string
  readonly object: UnknownObject
}

const MOST = 100

/**
 * Every object that two bundles have on one cluster; told of the bundle whose name comes later. Contents without clusters
 * are compared by `mayMeet`.
 */
export function lintOverlap(
  contents: readonly PlacedContent[],
  mayMeet: (a: string, b: string) => boolean = () => false,
): OverlapFinding[] {
  const holders = new Map<string, { readonly content: PlacedContent; readonly object: UnknownObject }[]>()
  for (const content of contents) {
    for (const object of content.objects) {
      const key = objectKey({ apiVersion: object.apiVersion, kind: object.kind, ...object.metadata })
      const known = holders.get(key)
      if (known) known.push({ content, object })
      else holders.set(key, [{ content, object }])
    }
  }
  const found = new Map<string, OverlapFinding>()
  for (const [key, all] of holders) {
    for (const [at, a] of all.entries()) {
      for (const b of all.slice(at + 1)) {
        if (a.content.bundle === b.content.bundle) continue
        const [first, second] = a.content.bundle < b.content.bundle ? [a, b] : [b, a]
        const id = `${key} ${first.content.bundle} ${second.content.bundle}`
        const one = overlap(first, second, mayMeet)
        const before = found.get(id)
        if (one && (before === undefined || (before.severity === 'warning' && one.severity === 'error')))
          found.set(id, one)
        if (found.size >= MOST) return [...found.values()]
      }
    }
  }
  return [...found.values()]
}

interface Holder {
  readonly content: PlacedContent
  readonly object: UnknownObject
}

function overlap(a: Holder, b: Holder, mayMeet: (a: string, b: string) => boolean): OverlapFinding | undefined {
  const others = new Set(b.content.clusters)
  const common = a.content.clusters.filter((name) => others.has(name))
  const isOpen = a.content.clusters.length === 0 || b.content.clusters.length === 0
  if (common.length === 0 && !(isOpen && mayMeet(a.content.bundle, b.content.bundle))) return undefined
  const { apiVersion, kind, metadata } = b.object
  const where = common.length === 0 ? 'on clusters that are in both placements' : `on ${someOf(common)}`
  const clash = differences(a.object, b.object).find(({ live, wanted }) => live !== undefined && wanted !== undefined)
  const how = clash === undefined ? 'both have it' : 'with different fields'
  const message = `${describeObject({ apiVersion, kind, ...metadata })} is in bundle ${a.content.bundle} and in bundle ${b.content.bundle} ${where}, ${how}`
  return {
    ...finding('overlapping-objects', message, {
      severity: clash !== undefined && common.length > 0 ? 'error' : 'warning',
      todo: 'leave it in one of them',
      ...(clash === undefined ? {} : { place: clash.place }),
    }),
    bundle: b.content.bundle,
    object: b.object,
  }
}
