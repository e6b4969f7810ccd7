/** The objects of an Application: those of the newest content, and those that a sync would remove. */
import { compact } from '../../../core/compact.ts'
import { objectState } from '../../../plan/fleet/object-state.ts'
import type { ObjectState, ReportedObjects } from '../../../plan/fleet/object-state.ts'
import { describeObject } from '../../../plan/objects/object-id.ts'
import type { ObjectSet } from '../../../wire/document/cluster-document.ts'
import type { ApplicationResource } from '../kinds.ts'

/** What is known of a Bundle on its cluster. */
export interface BundleContents {
  /** `namespace/name`. */
  readonly bundle: string
  /** The newest content, and its digest. */
  readonly newest: ObjectSet | undefined
  readonly newestSet: string | undefined
  /** The content that the document of the cluster has, and its digest. */
  readonly assigned: ObjectSet | undefined
  readonly assignedSet: string | undefined
}

interface Listing {
  /** The reports about bundles of the cluster, with the digests of their sets. */
  readonly reported: readonly (ReportedObjects & { readonly bundle: string; readonly set?: string | undefined })[]
  readonly isOffline: boolean
}

const OBJECT_HEALTH: Readonly<Record<ObjectState['state'], string>> = {
  Ready: 'Healthy',
  Drifted: 'Healthy',
  Progressing: 'Progressing',
  Pending: 'Missing',
  Failed: 'Degraded',
  Offline: 'Unknown',
  NotReported: 'Unknown',
  NotSelected: 'Missing',
}
const MAX_RESOURCES = 500

type SetObject = ObjectSet['objects'][number]

/** Lists the objects with their states on the cluster, in the order of the content. */
export function listResources(contents: readonly BundleContents[], listing: Listing): ApplicationResource[] {
  return contents.flatMap((one) => resourcesOf(one, listing)).slice(0, MAX_RESOURCES)
}

function resourcesOf(contents: BundleContents, { reported, isOffline }: Listing): ApplicationResource[] {
  const { bundle, newest, newestSet, assigned, assignedSet } = contents
  const rowOf = (set: string | undefined): ReportedObjects | undefined =>
    set === undefined ? undefined : reported.find((row) => row.bundle === bundle && row.set === set)
  const isDelivered = newestSet !== undefined && newestSet === assignedSet
  const row = rowOf(newestSet) ?? rowOf(assignedSet)
  const before = new Map((assigned?.objects ?? []).map((object) => [idOf(object), object.digest]))
  const wanted = new Set((newest?.objects ?? []).map(idOf))
  const stateOf = (object: SetObject): ObjectState => objectState(describeObject(object), row, isOffline)
  const kept = (newest?.objects ?? []).map((object): ApplicationResource => {
    const known = before.get(idOf(object))
    const { state, message } = stateOf(object)
    const isSame = known === object.digest
    const status = isOffline ? 'Unknown' : isSame ? syncStatus(state) : 'OutOfSync'
    // Health is that of what runs there.
    const health = known === undefined ? { status: 'Missing' } : compact({ status: OBJECT_HEALTH[state], message })
    return { ...fieldsOf(object), status: row === undefined && !isOffline ? 'OutOfSync' : status, health }
  })
  const removed = (isDelivered ? [] : (assigned?.objects ?? [])).filter((object) => !wanted.has(idOf(object)))
  return [
    ...kept,
    ...removed.map((object): ApplicationResource => {
      const { state, message } = stateOf(object)
      const health = compact({ status: OBJECT_HEALTH[state], message })
      return { ...fieldsOf(object), status: isOffline ? 'Unknown' : 'OutOfSync', health, requiresPruning: true }
    }),
  ]
}

function syncStatus(state: ObjectState['state']): string {
  if (state === 'Ready' || state === 'Progressing') return 'Synced'
  return state === 'Drifted' || state === 'Pending' ? 'OutOfSync' : 'Unknown'
}

function idOf({ apiVersion, kind, namespace = '', name }: SetObject): string {
  const group = apiVersion.includes('/') ? apiVersion.split('/')[0]! : ''
  return JSON.stringify([group, kind, namespace, name])
}

function fieldsOf({ apiVersion, kind, name, namespace, hook }: SetObject): ApplicationResource {
  const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
  return compact({
    group: group === '' ? undefined : group,
    version,
    kind,
    namespace,
    name,
    hook: hook ? true : undefined,
  })
}
