// Tested by src/dialects/ocm/addons/addon-rollout.test.ts and src/dialects/ocm/addons/addons.sim.test.ts
/** Configurations of an add-on on a cluster: defaults, below the install strategy, below the ManagedClusterAddOn. */
import { compact } from '../../../core/compact.ts'
import { digestOfJson } from '../../../core/crypto/digest.ts'
import type { InstallEntry } from './install-entries.ts'
import type { AddOnDeploymentConfig, AddOnTemplate, ClusterManagementAddOn, ManagedClusterAddOn } from './kinds.ts'

/** Where configurations are read. */
export interface ConfigPorts {
  templateOf(name: string): AddOnTemplate | undefined
  configOf(namespace: string, name: string): AddOnDeploymentConfig | undefined
}

/** A configuration as status lists it. */
export type ConfigReference = NonNullable<NonNullable<ManagedClusterAddOn['status']>['configReferences']>[number]

/** The configurations that a cluster should have. */
export interface DesiredConfigs {
  readonly template: AddOnTemplate
  readonly settings: readonly AddOnDeploymentConfig[]
  /** With `desiredConfig`. */
  readonly references: readonly ConfigReference[]
  /** Changes with the name or the content of a configuration. */
  readonly digest: string
}

interface Config {
  readonly group?: string | undefined
  readonly resource: string
  readonly namespace?: string | undefined
  readonly name: string
}

/** The configurations, or the sentence that says what is missing. */
export function desiredConfigs(
  addon: ClusterManagementAddOn,
  entry: InstallEntry | undefined,
  own: readonly Config[] | undefined,
  ports: ConfigPorts,
): DesiredConfigs | { readonly problem: string } {
  const configs = mergedConfigs(addon, entry, own)
  const named = configs.find(({ resource }) => resource === 'addontemplates')
  if (!named) {
    const where = 'spec.supportedConfigs of the ClusterManagementAddOn, its install strategy, or spec.configs'
    return { problem: `No AddOnTemplate is configured in ${where}; only add-ons with a template are served.` }
  }
  const template = ports.templateOf(named.name)
  if (!template) return { problem: `AddOnTemplate ${named.name} does not exist.` }
  const settings: AddOnDeploymentConfig[] = []
  const references: ConfigReference[] = []
  for (const { group, resource, namespace, name } of configs) {
    let spec: object = template.spec
    if (resource !== 'addontemplates') {
      if (resource !== 'addondeploymentconfigs')
        return { problem: `Configurations of the resource ${resource} are not served.` }
      const found = ports.configOf(namespace ?? '', name)
      if (!found) return { problem: `AddOnDeploymentConfig ${namespace}/${name} does not exist.` }
      settings.push(found)
      spec = found.spec
    }
    const desiredConfig = compact({ namespace, name, specHash: hashOf(spec) })
    references.push(compact({ group, resource, namespace, name, desiredConfig }))
  }
  return { template, settings, references, digest: digestOfJson(references) }
}

/** One configuration for each resource. */
function mergedConfigs(
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

/** Hashes by spec: objects of a cache are never changed, and many clusters have the same configurations. */
const hashes = new WeakMap<object, string>()

function hashOf(spec: object): string {
  const known = hashes.get(spec)
  if (known !== undefined) return known
  const hash = digestOfJson(spec).slice('sha256:'.length)
  hashes.set(spec, hash)
  return hash
}
