// Tested by src/dialects/ocm/addons/addons.sim.test.ts
/** Delivers an add-on to its cluster as a ManifestWork, and writes its state into the ManagedClusterAddOn. */
import { compact } from '../../../core/compact.ts'
import { findCondition } from '../../../core/conditions.ts'
import { digestOfJson } from '../../../core/crypto/digest.ts'
import { isApiError } from '../../../core/errors.ts'
import { jsonEqual } from '../../../core/json.ts'
import type { Context, Draft, Reconciler, Result } from '../../../engine/reconciler.ts'
import { apiVersionOf } from '../../../kinds/meta.ts'
import { ManifestWork } from '../works/kinds.ts'
import { addonHealth } from './addon-health.ts'
import type { InstallEntry } from './install-addon.ts'
import { ManagedClusterAddOn } from './kinds.ts'
import type { AddOnDeploymentConfig, AddOnTemplate, ClusterManagementAddOn } from './kinds.ts'
import { renderAddon } from './render-addon.ts'

const ADDON_LABEL = 'open-cluster-management.io/addon-name'
/** An add-on whose lease is older is not available. */
const LOOK_AGAIN_MS = 60_000
const REFUSED_MS = 60_000

/** The ports of the reconciler. */
export interface ManagedAddonPorts {
  addonOf(name: string): ClusterManagementAddOn | undefined
  /** The entry of the install strategy that selects a cluster. */
  entryOf(addon: ClusterManagementAddOn, cluster: string): InstallEntry | undefined
  templateOf(name: string): AddOnTemplate | undefined
  configOf(namespace: string, name: string): AddOnDeploymentConfig | undefined
  workOf(namespace: string, name: string): ManifestWork | undefined
  applyWork(work: ManifestWork, signal: AbortSignal): Promise<void>
}

interface Config {
  readonly group?: string | undefined
  readonly resource: string
  readonly namespace?: string | undefined
  readonly name: string
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
      const entry = ports.entryOf(addon, cluster)
      const strategy = entry?.rolloutStrategy?.['type'] ?? 'All'
      if (strategy !== 'All') {
        const problem = `rolloutStrategy ${JSON.stringify(strategy)} of an install strategy is not served. Write "All", or roll out a ManifestWorkReplicaSet. What is installed stays as it is.`
        return unconfigured(draft, problem)
      }
      const configs = configsOf(addon, entry, spec?.configs)
      const named = configs.find(({ resource }) => resource === 'addontemplates')
      if (!named) {
        const where = 'spec.supportedConfigs of the ClusterManagementAddOn, its install strategy, or spec.configs'
        return unconfigured(
          draft,
          `No AddOnTemplate is configured in ${where}; only add-ons with a template are served.`,
        )
      }
      const template = ports.templateOf(named.name)
      if (!template) return unconfigured(draft, `AddOnTemplate ${named.name} does not exist.`)
      const settings: AddOnDeploymentConfig[] = []
      for (const one of configs) {
        if (one.resource === 'addontemplates') continue
        if (one.resource !== 'addondeploymentconfigs')
          return unconfigured(draft, `Configurations of the resource ${one.resource} are not served.`)
        const found = ports.configOf(one.namespace ?? '', one.name)
        if (!found) return unconfigured(draft, `AddOnDeploymentConfig ${one.namespace}/${one.name} does not exist.`)
        settings.push(found)
      }
      const rendered = renderAddon(template, {
        addon: name,
        cluster,
        installNamespace: spec?.installNamespace,
        settings: settings.map((one) => one.spec),
      })
      if ('problem' in rendered) return unconfigured(draft, rendered.problem)
      const wanted = workFor(draft.next, rendered.spec)
      const present = ports.workOf(cluster, wanted.metadata.name)
      if (present && !present.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid))
        return unconfigured(
          draft,
          `ManifestWork ${cluster}/${wanted.metadata.name} exists and was not made for this add-on.`,
        )
      const digest = wanted.metadata.annotations![COMPILED]
      if (present?.metadata.annotations?.[COMPILED] !== digest) {
        try {
          await ports.applyWork(wanted, context.signal)
        } catch (caught) {
          if (!isApiError(caught, 'Forbidden', 'Invalid')) throw caught
          unconfigured(draft, `The ManifestWork of the add-on cannot be written: ${caught.message}`.slice(0, 4096))
          return { requeueAfterMs: REFUSED_MS }
        }
      }
      const isCurrent = present?.metadata.annotations?.[COMPILED] === digest
      show(draft, { configs, settings, template, rendered, work: isCurrent ? present : undefined }, context)
      return rendered.health === 'Lease' ? { requeueAfterMs: LOOK_AGAIN_MS } : {}
    },
  }
}

/** One configuration for each resource: defaults, below the install strategy, below the ManagedClusterAddOn. */
function configsOf(
  { spec }: ClusterManagementAddOn,
  entry: InstallEntry | undefined,
  own: readonly Config[] = [],
): readonly Config[] {
  const defaults = (spec.supportedConfigs ?? []).flatMap(({ group, resource, defaultConfig }): Config[] =>
    defaultConfig ? [{ group, resource, ...defaultConfig }] : [],
  )
  const all = [...defaults, ...(entry?.configs ?? []), ...own]
  return [...new Map(all.map((one) => [`${one.group ?? ''}/${one.resource}`, one])).values()]
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
  readonly configs: readonly Config[]
  readonly settings: readonly AddOnDeploymentConfig[]
  readonly template: AddOnTemplate
  readonly rendered: { readonly namespace: string; readonly health: 'Lease' | 'Customized' }
  readonly work: ManifestWork | undefined
}

function show({ next, seen, conditions }: Draft<ManagedClusterAddOn>, shown: Shown, { clock }: Context): void {
  const { configs, settings, template, rendered, work } = shown
  const applied = findCondition(work?.status?.conditions, 'Applied')
  const isApplied = applied?.status === 'True' && applied.observedGeneration === work?.metadata.generation
  const configReferences = configs.map(({ group, resource, namespace, name }) => {
    const spec =
      resource === 'addontemplates' ? template.spec : settings.find(({ metadata }) => metadata.name === name)?.spec
    const config = compact({ namespace, name, specHash: digestOfJson(spec ?? {}).slice('sha256:'.length) })
    const before = seen.status?.configReferences?.find((one) => one.resource === resource)?.lastAppliedConfig
    return compact({
      group,
      resource,
      namespace,
      name,
      desiredConfig: config,
      lastAppliedConfig: isApplied ? config : before,
    })
  })
  const status = { namespace: rendered.namespace, healthCheck: { mode: rendered.health }, configReferences }
  const { conditions: _own = [], ...rest } = seen.status ?? { conditions: [] }
  if (!jsonEqual(rest, status)) next.status = { ...status, conditions: next.status?.conditions ?? [] }
  conditions.set('Configured', 'True', 'ConfigurationsConfigured', 'Configurations configured')
  if (applied) {
    const reason = isApplied ? 'AddonManifestApplied' : 'AddonManifestAppliedFailed'
    const message = isApplied ? 'manifests of addon are applied successfully' : applied.message
    conditions.set('ManifestApplied', isApplied ? 'True' : 'False', reason, message)
  }
  const isLast = configReferences.every(({ desiredConfig, lastAppliedConfig }) =>
    jsonEqual(desiredConfig, lastAppliedConfig),
  )
  conditions.set(
    'Progressing',
    isLast ? 'False' : 'True',
    isLast ? 'Completed' : 'Progressing',
    isLast ? 'completed with no errors.' : 'upgrading... mergedconfigs',
  )
  const health = addonHealth(next.metadata.name, rendered.health, work, clock.now())
  conditions.set('Available', health.status, health.reason, health.message)
}
