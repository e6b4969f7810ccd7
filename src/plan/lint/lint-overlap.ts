/** Bundles that have the same object on the same cluster. */
import { compact } from '../../core/compact.ts'
import { nameSome } from '../../core/text/name-some.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { differences } from '../objects/differences.ts'
import { describeObject, objectKey } from '../objects/object-id.ts'
import { finding } from './finding.ts'
import type { Finding } from './finding.ts'

/** A content of a bundle, and who gets it. */
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
 * Every object that two bundles have on one cluster, told once for each bundle after the first: of the pairs it is in,
 * one that disagrees. Contents without clusters are compared by `mayMeet`.
 */
export function lintOverlap(
  contents: readonly PlacedContent[],
  mayMeet: (a: string, b: string) => boolean = () => false,
): OverlapFinding[] {
  const holders = new Map<string, Holder[]>()
  for (const content of contents.toSorted((a, b) => (a.bundle < b.bundle ? -1 : a.bundle > b.bundle ? 1 : 0))) {
    const names = new Set(content.clusters)
    for (const object of content.objects) {
      const key = objectKey({ ...object.metadata, apiVersion: object.apiVersion, kind: object.kind })
      const known = holders.get(key)
      if (known) known.push({ content, names, object })
      else holders.set(key, [{ content, names, object }])
    }
  }
  const found: OverlapFinding[] = []
  for (const all of holders.values()) {
    for (const [bundle, own] of Map.groupBy(all, ({ content }) => content.bundle)) {
      const before = all.filter(({ content }) => content.bundle < bundle)
      const one = worst(own, before, mayMeet)
      if (one) found.push(one)
      if (found.length >= MOST) return found
    }
  }
  return found
}

function worst(
  own: readonly Holder[],
  before: readonly Holder[],
  mayMeet: (a: string, b: string) => boolean,
): OverlapFinding | undefined {
  let found: OverlapFinding | undefined
  for (const b of own) {
    for (const a of before) {
      const one = overlap(a, b, mayMeet)
      if (one?.severity === 'error') return one
      found ??= one
    }
  }
  return found
}

interface Holder {
  readonly content: PlacedContent
  readonly names: ReadonlySet<string>
  readonly object: UnknownObject
}

function overlap(a: Holder, b: Holder, mayMeet: (a: string, b: string) => boolean): OverlapFinding | undefined {
  const common = a.content.clusters.filter((name) => b.names.has(name))
  const isOpen = a.content.clusters.length === 0 || b.content.clusters.length === 0
  if (common.length === 0 && !(isOpen && mayMeet(a.content.bundle, b.content.bundle))) return undefined
  const { apiVersion, kind, metadata } = b.object
  const where = common.length === 0 ? 'on clusters that are in both placements' : `on ${nameSome(common)}`
  const clash = differences(a.object, b.object).find(({ live, wanted }) => live !== undefined && wanted !== undefined)
  const how = clash === undefined ? 'both have it' : 'with different fields'
  const message = `${describeObject({ ...metadata, apiVersion, kind })} is in bundle ${a.content.bundle} and in bundle ${b.content.bundle} ${where}, ${how}`
  return {
    ...finding(
      'overlapping-objects',
      message,
      compact({
        severity: clash !== undefined && common.length > 0 ? 'error' : 'warning',
        todo: 'leave it in one of them',
        place: clash?.place,
      }),
    ),
    bundle: b.content.bundle,
    object: b.object,
  }
}
