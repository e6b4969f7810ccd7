// Tested by src/dialects/ocm/addons/addons.sim.test.ts
/** Delivers an add-on to its cluster as a ManifestWork, and writes its state into the ManagedClusterAddOn. */
import { compact } from '../../../core/compact.ts'
import { findCondition } from '../../../core/conditions.ts'
import { digestOfJson } from '../../../core/crypto/digest.ts'
import { isApiError } from '../../../core/errors.ts'
import { jsonEqual } from '../../../core/json.ts'
import type { Context, Draft, Reconciler, Result } from '../../../engine/reconciler.ts'
import { apiVersionOf } from '../../../kinds/meta.ts'
import type { ManagedCluster } from '../kinds.ts'
import { ManifestWork } from '../works/kinds.ts'
import { addonHealth } from './addon-health.ts'
import { desiredConfigs } from './addon-configs.ts'
import type { ConfigPorts, ConfigReference, DesiredConfigs } from './addon-configs.ts'
import { actsOn, isAtOnce, mayHave } from './addon-rollout.ts'
import { BY_PLACEMENTS, entriesOf, INSTALLED_LABEL, isAway } from './install-entries.ts'
import type { InstallEntry } from './install-entries.ts'
import { ManagedClusterAddOn } from './kinds.ts'
import type { ClusterManagementAddOn } from './kinds.ts'
import { renderAddon } from './render-addon.ts'

const ADDON_LABEL = 'open-cluster-management.io/addon-name'
/** An add-on whose lease is older is not available. */
const LOOK_AGAIN_MS = 60_000
const REFUSED_MS = 60_000

/** The ports of the reconciler. */
export interface ManagedAddonPorts extends ConfigPorts {
  addonOf(name: string): ClusterManagementAddOn | undefined
  /** The entry of the install strategy for each cluster; undefined while a Placement is undecided. */
  entriesOf(addon: ClusterManagementAddOn): ReadonlyMap<string, InstallEntry> | undefined
  faceOf(cluster: string): ManagedCluster | undefined
  workOf(namespace: string, name: string): ManifestWork | undefined
  applyWork(work: ManifestWork, signal: AbortSignal): Promise<void>
}

/** The name of the work of an add-on, as in Open Cluster Management. */
function workNameOf(addon: string): string {
  return `addon-${addon}-deploy-0`
}

export function managedAddonReconciler(ports: ManagedAddonPorts): Reconciler<ManagedClusterAddOn> {
  return {
    name: 'ocm-managed-addon',
    async reconcile(draft: Draft<ManagedClusterAddOn>, context: Context): Promise<Result> {
      const { metadata, spec } = draft.next
      const { name, namespace: cluster = '' } = metadata
      // The work goes with its owner.
      if (metadata.deletionTimestamp) return {}
      const addon = ports.addonOf(name)
      if (!addon) return unconfigured(draft, `ClusterManagementAddOn ${name} does not exist.`)
      const entries = ports.entriesOf(addon)
      const entry = entries?.get(cluster)
      const present = ports.workOf(cluster, workNameOf(name))
      const undecided = whyUndecided(draft.next, { addon, entries, face: ports.faceOf(cluster) })
      if (undecided !== undefined) {
        draft.conditions.set('Progressing', 'True', 'PlacementUndecided', undecided)
        return showInstalled(draft, present, context)
      }
      const desired = desiredConfigs(addon, entry, spec?.configs, ports)
      if ('problem' in desired) return unconfigured(draft, desired.problem)
      if (entry && !isAtOnce(entry.rolloutStrategy ?? {}) && !mayHave(draft.seen, desired)) {
        const message = `Waits for its turn in the rollout of Placement ${entry.namespace}/${entry.name}; what is installed stays as it is.`
        draft.conditions.set('Progressing', 'True', 'WaitingForRollout', message)
        return showInstalled(draft, present, context)
      }
      const rendered = renderAddon(desired.template, {
        addon: name,
        cluster,
        installNamespace: spec?.installNamespace,
        settings: desired.settings.map((one) => one.spec),
      })
      if ('problem' in rendered) return refused(draft, desired, rendered.problem)
      const wanted = workFor(draft.next, rendered.spec)
      if (present && !present.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid)) {
        const message = `ManifestWork ${cluster}/${wanted.metadata.name} exists and was not made for this add-on.`
        return refused(draft, desired, message)
      }
      const digest = wanted.metadata.annotations![COMPILED]
      if (present?.metadata.annotations?.[COMPILED] !== digest) {
        try {
          await ports.applyWork(wanted, context.signal)
        } catch (caught) {
          if (!isApiError(caught, 'Forbidden', 'Invalid')) throw caught
          const message = `The ManifestWork of the add-on cannot be written: ${caught.message}`.slice(0, 4096)
          refused(draft, desired, message)
          return { requeueAfterMs: REFUSED_MS }
        }
      }
      const isCurrent = present?.metadata.annotations?.[COMPILED] === digest
      show(draft, { desired, rendered, work: isCurrent ? present : undefined }, context)
      return rendered.health === 'Lease' ? { requeueAfterMs: LOOK_AGAIN_MS } : {}
    },
  }
}

/** Why the install strategy does not say what the cluster should have now; what is installed then stays. */
function whyUndecided(
  { metadata }: ManagedClusterAddOn,
  {
    addon,
    entries,
    face,
  }: {
    readonly addon: ClusterManagementAddOn
    readonly entries: ReadonlyMap<string, InstallEntry> | undefined
    readonly face: ManagedCluster | undefined
  },
): string | undefined {
  if (entriesOf(addon.spec).length === 0 || entries?.has(metadata.namespace ?? '')) return undefined
  const stays = 'what is installed stays as it is.'
  if (!entries) return `A Placement of the install strategy does not exist or is not decided; ${stays}`
  if (isAway(face)) return `The cluster cannot be reached, so its Placements leave it out; ${stays}`
  return metadata.labels?.[INSTALLED_LABEL] === BY_PLACEMENTS ? `No Placement selects the cluster; ${stays}` : undefined
}

/** Shows the state of what is installed while nothing is changed. */
function showInstalled(
  { seen, conditions }: Draft<ManagedClusterAddOn>,
  present: ManifestWork | undefined,
  { clock }: Context,
): Result {
  // A refusal of former configurations is no statement about these.
  if (conditions.get('Configured')?.status === 'False') conditions.remove('Configured')
  const mode = seen.status?.healthCheck?.mode
  if (!present || !mode) return {}
  const health = addonHealth(seen.metadata.name, mode, present, clock.now())
  conditions.set('Available', health.status, health.reason, health.message)
  return mode === 'Lease' ? { requeueAfterMs: LOOK_AGAIN_MS } : {}
}

/** These configurations cannot be used; what is installed stays. */
function refused(draft: Draft<ManagedClusterAddOn>, desired: DesiredConfigs, problem: string): Result {
  const { next, seen } = draft
  const configReferences = withLastApplied(seen, desired, false)
  if (!jsonEqual(seen.status?.configReferences, configReferences)) {
    next.status = { ...next.status, conditions: next.status?.conditions ?? [], configReferences: [...configReferences] }
  }
  draft.conditions.set('Progressing', 'False', 'Failed', problem)
  return unconfigured(draft, problem)
}

const COMPILED = 'flotilla.dev/compiled'

function workFor({ metadata }: ManagedClusterAddOn, spec: ManifestWork['spec']): ManifestWork {
  const { name, namespace = '', uid = '' } = metadata
  const owner = {
    apiVersion: apiVersionOf(ManagedClusterAddOn),
    kind: ManagedClusterAddOn.kind,
    name,
    uid,
    controller: true,
  }
  return {
    apiVersion: apiVersionOf(ManifestWork),
    kind: ManifestWork.kind,
    metadata: {
      name: workNameOf(name),
      namespace,
      labels: { [ADDON_LABEL]: name },
      annotations: { [COMPILED]: digestOfJson(spec) },
      ownerReferences: [owner],
    },
    spec,
  }
}

function unconfigured({ conditions }: Draft<ManagedClusterAddOn>, message: string): Result {
  conditions.set('Configured', 'False', 'ConfigurationUnsupported', message)
  return {}
}

interface Shown {
  readonly desired: DesiredConfigs
  readonly rendered: { readonly namespace: string; readonly health: 'Lease' | 'Customized' }
  readonly work: ManifestWork | undefined
}

function withLastApplied(
  { status }: ManagedClusterAddOn,
  { references }: DesiredConfigs,
  isApplied: boolean,
): readonly ConfigReference[] {
  return references.map((one) => {
    const before = status?.configReferences?.find(({ resource }) => resource === one.resource)?.lastAppliedConfig
    return compact({ ...one, lastAppliedConfig: isApplied ? one.desiredConfig : before })
  })
}

function show({ next, seen, conditions }: Draft<ManagedClusterAddOn>, shown: Shown, { clock }: Context): void {
  const { desired, rendered, work } = shown
  const applied = findCondition(work?.status?.conditions, 'Applied')
  const isObserved = applied !== undefined && applied.observedGeneration === work?.metadata.generation
  const isApplied = isObserved && applied.status === 'True'
  const configReferences = withLastApplied(seen, desired, isApplied)
  const status = { namespace: rendered.namespace, healthCheck: { mode: rendered.health }, configReferences }
  const { conditions: _own = [], ...rest } = seen.status ?? { conditions: [] }
  if (!jsonEqual(rest, status))
    next.status = { ...status, configReferences: [...configReferences], conditions: next.status?.conditions ?? [] }
  const unused = desired.settings.filter(({ spec }) => spec.proxyConfig?.caBundle)
  const notes = unused.map(
    ({ metadata }) =>
      `; spec.proxyConfig.caBundle of AddOnDeploymentConfig ${metadata.namespace}/${metadata.name} has no effect`,
  )
  conditions.set('Configured', 'True', 'ConfigurationsConfigured', `Configurations configured${notes.join('')}`)
  if (applied) {
    const reason = isApplied ? 'AddonManifestApplied' : 'AddonManifestAppliedFailed'
    const message = isApplied ? 'manifests of addon are applied successfully' : applied.message
    conditions.set('ManifestApplied', isApplied ? 'True' : 'False', reason, message)
  }
  const health = addonHealth(next.metadata.name, rendered.health, work, clock.now())
  conditions.set('Available', health.status, health.reason, health.message)
  const before = conditions.get('Progressing')
  const wasCompleted = before?.reason === 'Completed' && actsOn(seen, desired)
  const exists = findCondition(work?.status?.conditions, 'Available')?.status === 'True'
  // A template without a Lease of its own is up when its objects are applied.
  const isUp = rendered.health === 'Lease' ? health.status !== 'False' : exists && health.status === 'True'
  if (isApplied && (isUp || wasCompleted))
    conditions.set('Progressing', 'False', 'Completed', 'completed with no errors.')
  else if (isObserved && applied.status === 'False') conditions.set('Progressing', 'False', 'Failed', applied.message)
  else conditions.set('Progressing', 'True', 'Progressing', 'upgrading... mergedconfigs')
}
