// Tested by src/dialects/ocm/addons/addons.sim.test.ts
/** Installs an add-on on the clusters that its Placements select. */
import { compact } from '../../../core/compact.ts'
import { findCondition } from '../../../core/conditions.ts'
import { jsonEqual } from '../../../core/json.ts'
import { formatTime } from '../../../core/time/time.ts'
import type { Context, Draft, Reconciler, Result } from '../../../engine/reconciler.ts'
import { apiVersionOf } from '../../../kinds/meta.ts'
import type { ManagedCluster } from '../kinds.ts'
import { groupsOfPages } from '../rollout/decided-groups.ts'
import { desiredConfigs } from './addon-configs.ts'
import type { ConfigPorts, DesiredConfigs } from './addon-configs.ts'
import { addonClusterOf, isAtOnce, rollOutAddon } from './addon-rollout.ts'
import type { AddonRollout } from './addon-rollout.ts'
import { BY_PLACEMENTS, entriesByCluster, entriesOf, INSTALLED_LABEL, isAway } from './install-entries.ts'
import type { DecisionPorts, InstallEntry } from './install-entries.ts'
import { ClusterManagementAddOn, ManagedClusterAddOn } from './kinds.ts'

/** The ports of the reconciler. */
export interface InstallPorts extends DecisionPorts, ConfigPorts {
  faceOf(cluster: string): ManagedCluster | undefined
  /** The ManagedClusterAddOns of an add-on. */
  installed(addon: string): readonly ManagedClusterAddOn[]
  create(addon: ManagedClusterAddOn, signal: AbortSignal): Promise<void>
  remove(addon: ManagedClusterAddOn, signal: AbortSignal): Promise<void>
  /** Records that a ManagedClusterAddOn may have the configurations with this digest. */
  admit(addon: ManagedClusterAddOn, digest: string, signal: AbortSignal): Promise<void>
  /** Whether the caches lack an admission that was written. */
  isBehind(addon: string): boolean
}

const BEHIND_MS = 1000

export function installReconciler(ports: InstallPorts): Reconciler<ClusterManagementAddOn> {
  return {
    name: 'ocm-addon-install',
    async reconcile(draft: Draft<ClusterManagementAddOn>, { clock, signal, log }: Context): Promise<Result> {
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
      if (ports.isBehind(name)) return { requeueAfterMs: BEHIND_MS }
      return await rollOut(draft, { entries, present, ports }, { clock, signal, log })
    },
  }
}

function showInstalled({ conditions }: Draft<ClusterManagementAddOn>, present: readonly ManagedClusterAddOn[]): void {
  const available = present.filter(({ status }) => findCondition(status?.conditions, 'Available')?.status === 'True')
  const message = `Installed on ${present.length}, available on ${available.length} clusters.`
  conditions.set('Installed', 'True', 'Installed', message)
}

type Progression = NonNullable<NonNullable<ClusterManagementAddOn['status']>['installProgressions']>[number]

/** Admits the next clusters of each Placement, and shows where each rollout is. */
async function rollOut(
  draft: Draft<ClusterManagementAddOn>,
  {
    entries,
    present,
    ports,
  }: {
    readonly entries: ReadonlyMap<string, InstallEntry>
    readonly present: readonly ManagedClusterAddOn[]
    readonly ports: InstallPorts
  },
  { clock, signal, log }: Pick<Context, 'clock' | 'signal' | 'log'>,
): Promise<Result> {
  const addon = draft.next
  const { name } = addon.metadata
  const byCluster = new Map(present.map((one) => [one.metadata.namespace ?? '', one]))
  const now = clock.now()
  const progressions: Progression[] = []
  const rechecks: number[] = []
  for (const entry of entriesOf(addon.spec)) {
    const placement = ports.placementOf(entry.namespace, entry.name)
    const isOwn = (cluster: string): boolean =>
      entries.get(cluster) === entry &&
      ports.faceOf(cluster)?.spec.hubAcceptsClient === true &&
      byCluster.get(cluster)?.metadata.deletionTimestamp === undefined
    const groups = groupsOfPages(placement ? ports.pagesOf(placement) : []).map((group) => ({
      ...group,
      clusters: group.clusters.filter(isOwn),
    }))
    const desiredOf = (cluster: string) => desiredConfigs(addon, entry, byCluster.get(cluster)?.spec?.configs, ports)
    const strategy = entry.rolloutStrategy ?? {}
    const stateOf = (cluster: string) => addonClusterOf(byCluster.get(cluster), desiredOf(cluster))
    const rollout = rollOutAddon({ strategy, groups, stateOf, now })
    progressions.push(progressionOf(entry, { rollout, desired: desiredConfigs(addon, entry, [], ports), draft, now }))
    if (rollout.recheckAfterMs !== undefined) rechecks.push(rollout.recheckAfterMs)
    if (isAtOnce(strategy)) continue
    for (const cluster of rollout.admitted) {
      const [target, desired] = [byCluster.get(cluster), desiredOf(cluster)]
      if (!target || 'problem' in desired) continue
      await ports.admit(target, desired.digest, signal)
      log.info({ addon: name, cluster }, 'add-on admitted')
    }
  }
  const shown = progressions.length > 0 ? progressions : undefined
  if (!jsonEqual(draft.seen.status?.installProgressions, shown)) {
    const { installProgressions: _former, ...rest } = addon.status ?? { conditions: [] }
    addon.status = { ...rest, ...compact({ installProgressions: shown }) }
  }
  return rechecks.length > 0 ? { requeueAfterMs: Math.max(1000, Math.min(...rechecks)) } : {}
}

function progressionOf(
  { namespace, name }: InstallEntry,
  {
    rollout,
    desired,
    draft,
    now,
  }: {
    readonly rollout: AddonRollout
    readonly desired: DesiredConfigs | { readonly problem: string }
    readonly draft: Draft<ClusterManagementAddOn>
    readonly now: number
  },
): Progression {
  const before = draft.seen.status?.installProgressions?.find((one) => one.namespace === namespace && one.name === name)
  const { total, succeeded } = rollout
  const isDone = total === succeeded && !('problem' in desired) && rollout.problem === undefined
  const references = 'problem' in desired ? [] : desired.references
  const configReferences = references.map((one) => {
    const last = before?.configReferences?.find(({ resource }) => resource === one.resource)?.lastAppliedConfig
    return compact({ ...one, lastAppliedConfig: isDone ? one.desiredConfig : last })
  })
  const condition = progressOf(rollout, 'problem' in desired ? desired.problem : undefined)
  const former = findCondition(before?.conditions, 'Progressing')
  const lastTransitionTime = former?.status === condition.status ? former.lastTransitionTime : formatTime(now)
  return { namespace, name, configReferences, conditions: [{ ...condition, lastTransitionTime }] }
}

/** Condition Progressing of an entry, in the words of Open Cluster Management. */
function progressOf(rollout: AddonRollout, missing: string | undefined) {
  const { total, progressing, succeeded, failed, late, stopped } = rollout
  const type = 'Progressing'
  const problem = missing ?? rollout.problem
  if (problem !== undefined) {
    return {
      type,
      status: 'False' as const,
      reason: 'ConfigurationUnsupported',
      message: `${problem} Nothing is changed.`,
    }
  }
  const rest = `${failed} failed ${late} timeout.`
  if (total === succeeded) {
    const message = `${succeeded}/${total} completed with no errors, ${rest}`
    return { type, status: 'False' as const, reason: 'Completed', message }
  }
  const counts = `${progressing + succeeded}/${total} progressing..., ${rest}`
  if (!stopped) return { type, status: 'True' as const, reason: 'Progressing', message: counts }
  const message = `${counts} More clusters failed than maxFailures allows; correct the configuration to go on.`
  return { type, status: 'False' as const, reason: 'Failed', message }
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
