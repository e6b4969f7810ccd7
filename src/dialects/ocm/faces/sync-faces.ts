/**
 * A Cluster and its ManagedCluster are one cluster seen twice. Both can be written: a field that one side changed since
 * they were last equal goes to the other side. If both sides changed a field, the newer write wins. Pure.
 */
import { isObject, jsonEqual } from '../../../core/json.ts'
import { parseTime } from '../../../core/time/time.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import { ownersAt } from '../../../plan/objects/managed-fields.ts'
import type { ManagedCluster } from '../kinds.ts'

/** The annotation of a ManagedCluster with the values that both sides had when they were last equal. */
export const SYNCED_ANNOTATION = 'ocm.flotilla.dev/synced'

type Taints = NonNullable<ManagedCluster['spec']['taints']>

/** The fields that both sides have. */
export interface SharedFields {
  readonly labels: Readonly<Record<string, string>>
  /** By key and effect. */
  readonly taints: Readonly<Record<string, Taints[number]>>
  readonly isAccepted: boolean
  readonly leaseDurationSeconds: number
}

/** Taints that Open Cluster Management's hub sets by itself: native Placements do not read them. */
const OWN_TAINTS: ReadonlySet<string> = new Set([
  'cluster.open-cluster-management.io/unavailable',
  'cluster.open-cluster-management.io/unreachable',
])

/** A cluster of Open Cluster Management is late after five lease durations. */
export const LEASES_UNTIL_OFFLINE = 5
/** A Cluster is offline after a year at the latest. */
const MAX_LEASE_SECONDS = 31_536_000 / LEASES_UNTIL_OFFLINE
const NOTHING: SharedFields = { labels: {}, taints: {}, isAccepted: false, leaseDurationSeconds: 60 }

/** The shared fields of a Cluster. */
export function fieldsOfCluster({ metadata, spec }: Cluster): SharedFields {
  return {
    labels: metadata.labels ?? {},
    taints: taintMap(spec.taints ?? []),
    isAccepted: spec.accepted && spec.refused === undefined,
    leaseDurationSeconds: Math.max(1, Math.round(spec.offlineAfterSeconds / LEASES_UNTIL_OFFLINE)),
  }
}

/** The shared fields of a ManagedCluster. */
export function fieldsOfFace({ metadata, spec }: ManagedCluster): SharedFields {
  return {
    labels: metadata.labels ?? {},
    taints: taintMap((spec.taints ?? []).filter((taint) => !isOwnTaint(taint))),
    isAccepted: spec.hubAcceptsClient,
    leaseDurationSeconds: Math.min(spec.leaseDurationSeconds > 0 ? spec.leaseDurationSeconds : 60, MAX_LEASE_SECONDS),
  }
}

/** Whether Open Cluster Management's hub sets a taint by itself. */
export function isOwnTaint({ key }: { readonly key: string }): boolean {
  return OWN_TAINTS.has(key)
}

function taintMap(taints: Taints): SharedFields['taints'] {
  return Object.fromEntries(taints.map((taint) => [`${taint.key} ${taint.effect}`, taint]))
}

/** The text of the annotation. */
export function formatSynced({ labels, taints, isAccepted, leaseDurationSeconds }: SharedFields): string {
  return JSON.stringify({ labels, taints, isAccepted, leaseDurationSeconds })
}

/** The values that both sides had; a ManagedCluster that was never synchronized has none. */
function readSynced({ metadata }: ManagedCluster): SharedFields {
  const text = metadata.annotations?.[SYNCED_ANNOTATION]
  if (text === undefined) return NOTHING
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? { ...NOTHING, ...(value as Partial<SharedFields>) } : NOTHING
  } catch {
    // A user has changed the annotation: the sides are compared as if they met for the first time.
    return NOTHING
  }
}

/** Decides the values that both sides should have. */
export function syncFaces(cluster: Cluster, face: ManagedCluster): SharedFields {
  const [own, shown, before] = [fieldsOfCluster(cluster), fieldsOfFace(face), readSynced(face)]
  const faceTaintsAreNewer = () => isNewer(face, cluster, ['spec', 'taints'])
  return {
    labels: mergeMaps({ own: own.labels, shown: shown.labels, before: before.labels }, (label) =>
      isNewer(face, cluster, ['metadata', 'labels', label]),
    ),
    taints: mergeMaps({ own: own.taints, shown: shown.taints, before: before.taints }, faceTaintsAreNewer, isSameTaint),
    isAccepted: shown.isAccepted === before.isAccepted ? own.isAccepted : shown.isAccepted,
    leaseDurationSeconds:
      shown.leaseDurationSeconds === before.leaseDurationSeconds
        ? own.leaseDurationSeconds
        : shown.leaseDurationSeconds,
  }
}

/** The time of a taint follows its key, value and effect. */
function isSameTaint(a: Taints[number] | undefined, b: Taints[number] | undefined): boolean {
  if (!a || !b) return a === b
  return (a.value ?? '') === (b.value ?? '') && (a.timeAdded === undefined || a.timeAdded === b.timeAdded)
}

interface Sides<T> {
  readonly own: Readonly<Record<string, T>>
  readonly shown: Readonly<Record<string, T>>
  readonly before: Readonly<Record<string, T>>
}

/** Merges two maps that began equal; `faceWins` decides about keys that both sides changed. */
function mergeMaps<T>(
  { own, shown, before }: Sides<T>,
  faceWins: (key: string) => boolean,
  isSame: (a: T | undefined, b: T | undefined) => boolean = jsonEqual,
): Record<string, T> {
  const merged: Record<string, T> = {}
  for (const key of new Set([...Object.keys(own), ...Object.keys(shown)])) {
    const [a, b, was] = [valueIn(own, key), valueIn(shown, key), valueIn(before, key)]
    const takesFace = !isSame(b, a) && !isSame(b, was) && (isSame(a, was) || faceWins(key))
    const value = takesFace ? b : a
    if (value !== undefined) merged[key] = value
  }
  return merged
}

function valueIn<T>(map: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined
}

/** Whether the last write of a field of an object is newer than that of another object. */
function isNewer(a: KubeObject, b: KubeObject, path: readonly string[]): boolean {
  return writtenAt(a, path) > writtenAt(b, path)
}

function writtenAt(object: KubeObject, path: readonly string[]): number {
  const times = ownersAt(object, path).map(({ time }) => (time === undefined ? 0 : (parseTime(time) ?? 0)))
  return Math.max(0, ...times)
}
