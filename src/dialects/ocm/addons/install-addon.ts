// Tested by src/dialects/ocm/addons/addons.sim.test.ts
/** Installs an add-on on the clusters that its Placements select. */
import { findCondition } from '../../../core/conditions.ts'
import type { Context, Draft, Reconciler, Result } from '../../../engine/reconciler.ts'
import { apiVersionOf } from '../../../kinds/meta.ts'
import { isOwnTaint } from '../faces/sync-faces.ts'
import type { ManagedCluster, OcmPlacement, OcmPlacementDecision } from '../kinds.ts'
import { ClusterManagementAddOn, ManagedClusterAddOn } from './kinds.ts'

/** Label of a ManagedClusterAddOn that an install strategy made; others belong to the users who wrote them. */
const INSTALLED_LABEL = 'ocm.flotilla.dev/installed-by'
const BY_PLACEMENTS = 'placements'

/** The ports of the reconciler. */
export interface InstallPorts {
  placementOf(namespace: string, name: string): OcmPlacement | undefined
  pagesOf(placement: OcmPlacement): readonly OcmPlacementDecision[]
  faceOf(cluster: string): ManagedCluster | undefined
  /** The ManagedClusterAddOns of an add-on. */
  installed(addon: string): readonly ManagedClusterAddOn[]
  create(addon: ManagedClusterAddOn, signal: AbortSignal): Promise<void>
  remove(addon: ManagedClusterAddOn, signal: AbortSignal): Promise<void>
}

/** An entry of the install strategy for a cluster. */
export type InstallEntry = NonNullable<
  NonNullable<ClusterManagementAddOn['spec']['installStrategy']>['placements']
>[number]

/** The entry that counts for each cluster: the last that selects it; undefined while a Placement is undecided. */
export function entriesByCluster(
  { spec }: ClusterManagementAddOn,
  ports: Pick<InstallPorts, 'placementOf' | 'pagesOf'>,
): ReadonlyMap<string, InstallEntry> | undefined {
  const { type, placements = [] } = spec.installStrategy ?? {}
  const found = new Map<string, InstallEntry>()
  if (type !== 'Placements') return found
  for (const entry of placements) {
    const placement = ports.placementOf(entry.namespace, entry.name)
    const pages = placement ? ports.pagesOf(placement) : []
    if (pages.length === 0) return undefined
    for (const { status } of pages) for (const { clusterName } of status?.decisions ?? []) found.set(clusterName, entry)
  }
  return found
}

export function installReconciler(ports: InstallPorts): Reconciler<ClusterManagementAddOn> {
  return {
    name: 'ocm-addon-install',
    async reconcile(draft: Draft<ClusterManagementAddOn>, { signal, log }: Context): Promise<Result> {
      const addon = draft.next
      const { name } = addon.metadata
      if (addon.metadata.deletionTimestamp) return {}
      const entries = entriesByCluster(addon, ports)
      if (!entries) {
        const message =
          'A Placement of the install strategy does not exist or is not decided; nothing is installed or removed.'
        draft.conditions.set('Installed', 'False', 'PlacementDecisionNotFound', message)
        return {}
      }
      const present = ports.installed(name)
      const has = new Set(present.map(({ metadata }) => metadata.namespace))
      for (const cluster of entries.keys()) {
        if (has.has(cluster) || ports.faceOf(cluster)?.spec.hubAcceptsClient !== true) continue
        await ports.create(installedOn(addon, cluster), signal)
        log.info({ addon: name, cluster }, 'add-on installed')
      }
      const isManual = addon.spec.installStrategy?.type !== 'Placements'
      for (const one of present) {
        const cluster = one.metadata.namespace ?? ''
        const isOurs = one.metadata.labels?.[INSTALLED_LABEL] === BY_PLACEMENTS
        // A strategy that was switched off installs nothing more and removes nothing, as in Open Cluster Management.
        if (!isOurs || isManual || entries.has(cluster) || one.metadata.deletionTimestamp) continue
        if (isAway(ports.faceOf(cluster))) continue
        await ports.remove(one, signal)
        log.info({ addon: name, cluster }, 'add-on removed from a cluster that its Placements leave out')
      }
      showInstalled(draft, present)
      return {}
    },
  }
}

function showInstalled({ conditions }: Draft<ClusterManagementAddOn>, present: readonly ManagedClusterAddOn[]): void {
  const available = present.filter(({ status }) => findCondition(status?.conditions, 'Available')?.status === 'True')
  const message = `Installed on ${present.length}, available on ${available.length} clusters.`
  conditions.set('Installed', 'True', 'Installed', message)
}

/** A cluster that cannot be reached leaves the decisions by a taint of the hub; it keeps its add-ons. */
function isAway(face: ManagedCluster | undefined): boolean {
  return (
    face !== undefined && face.metadata.deletionTimestamp === undefined && (face.spec.taints ?? []).some(isOwnTaint)
  )
}

function installedOn({ metadata }: ClusterManagementAddOn, cluster: string): ManagedClusterAddOn {
  const { name, uid = '' } = metadata
  const owner = { apiVersion: apiVersionOf(ClusterManagementAddOn), kind: ClusterManagementAddOn.kind, name, uid }
  return {
    apiVersion: apiVersionOf(ManagedClusterAddOn),
    kind: ManagedClusterAddOn.kind,
    metadata: { name, namespace: cluster, labels: { [INSTALLED_LABEL]: BY_PLACEMENTS }, ownerReferences: [owner] },
    spec: {},
  }
}
