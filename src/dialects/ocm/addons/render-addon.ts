/** Renders an AddOnTemplate for a cluster to the spec of a ManifestWork. Pure. */
import { isObject, jsonClone } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { ManifestConfig, ManifestWork } from '../works/kinds.ts'
import { matchesGlob } from '../../../core/text/glob.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import { manifestId } from '../works/resources.ts'
import type { AddOnDeploymentConfig, AddOnTemplate } from './kinds.ts'

/** The namespace of add-ons that name none. */
const DEFAULT_NAMESPACE = 'open-cluster-management-agent-addon'

/** The cluster and its settings. */
export interface AddonScene {
  readonly addon: string
  readonly cluster: string
  /** `spec.installNamespace` of the ManagedClusterAddOn. */
  readonly installNamespace?: string | undefined
  /** Later settings win. */
  readonly settings: readonly AddOnDeploymentConfig['spec'][]
}

/** The work of an add-on, or the sentence that says why there is none. */
export type RenderedAddon =
  | { readonly spec: ManifestWork['spec']; readonly namespace: string; readonly health: 'Lease' | 'Customized' }
  | { readonly problem: string }

const PRE_DELETE = 'open-cluster-management.io/addon-pre-delete'
const ORPHAN = 'addon.open-cluster-management.io/deletion-orphan'
/** Kinds whose state says whether the add-on is available. */
const PROBED: ReadonlySet<string> = new Set(['Deployment', 'DaemonSet'])

export function renderAddon({ metadata, spec }: AddOnTemplate, scene: AddonScene): RenderedAddon {
  const template = `AddOnTemplate ${metadata.name}`
  const refused = (spec.registration ?? []).map(({ type }) => textOf(type))[0]
  if (refused !== undefined) {
    return {
      problem: `${template}: spec.registration of type ${JSON.stringify(refused)} is not served: it gives the add-on credentials for the hub. Remove spec.registration; the status of the add-on comes from its objects.`,
    }
  }
  if (spec.addonName !== scene.addon)
    return { problem: `${template} is for add-on ${spec.addonName}, not for ${scene.addon}.` }
  const settings = merged(scene.settings)
  const namespace = settings.agentInstallNamespace || scene.installNamespace || DEFAULT_NAMESPACE
  const variables = new Map<string, string>([
    ...(settings.customizedVariables ?? []).map(({ name, value }): [string, string] => [name, value ?? '']),
    ['CLUSTER_NAME', scene.cluster],
    ['INSTALL_NAMESPACE', namespace],
  ])
  const manifests: JsonObject[] = []
  const orphaned: { group: string; resource: string; namespace: string; name: string }[] = []
  for (const [index, raw] of (spec.agentSpec.workload?.manifests ?? []).entries()) {
    const manifest = substitute(jsonClone(raw), variables) as JsonObject
    const meta = isObject(manifest['metadata']) ? manifest['metadata'] : {}
    const marks = { ...asObject(meta['labels']), ...asObject(meta['annotations']) }
    if (Object.keys(marks).some((key) => key.endsWith(PRE_DELETE) || key === `addon.${PRE_DELETE}`)) {
      return {
        problem: `${template}: spec.agentSpec.workload.manifests[${index}] is a pre-delete hook, which is not served.`,
      }
    }
    if (settings.agentInstallNamespace) moveNamespace(manifest, namespace)
    adjust(manifest, settings, variables)
    manifests.push(manifest)
    if (Object.hasOwn(asObject(meta['annotations']), ORPHAN)) orphaned.push(identifierOf(manifest))
  }
  const probed = manifests.filter((one) => PROBED.has(String(one['kind'])))
  const health = probed.length > 0 ? 'Customized' : 'Lease'
  const configs: ManifestConfig[] = probed.map((one) => ({
    resourceIdentifier: identifierOf(one),
    feedbackRules: [{ type: 'WellKnownStatus' }],
  }))
  if (health === 'Lease') {
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: scene.addon, namespace } }
    manifests.push(lease)
    configs.push({
      resourceIdentifier: { group: 'coordination.k8s.io', resource: 'leases', namespace, name: scene.addon },
      updateStrategy: { type: 'ReadOnly' },
      feedbackRules: [{ type: 'JSONPaths', jsonPaths: [{ name: 'renewTime', path: '.spec.renewTime' }] }],
    })
  }
  const work: ManifestWork['spec'] = {
    ...spec.agentSpec,
    workload: { manifests },
    manifestConfigs: [...(spec.agentSpec.manifestConfigs ?? []), ...configs],
    ...(orphaned.length > 0
      ? {
          deleteOption: {
            propagationPolicy: 'SelectivelyOrphan' as const,
            selectivelyOrphans: { orphaningRules: orphaned },
          },
        }
      : {}),
  }
  return { spec: work, namespace, health }
}

type Settings = AddOnDeploymentConfig['spec']

/** Settings over each other: variables by name, other fields as a whole. */
function merged(all: readonly Settings[]): Settings {
  const variables = new Map(
    all.flatMap(({ customizedVariables = [] }) => customizedVariables.map((one) => [one.name, one])),
  )
  return { ...Object.assign({}, ...all), customizedVariables: [...variables.values()] }
}

function substitute(value: unknown, variables: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string')
    return value.replaceAll(/\{\{([a-zA-Z_][_a-zA-Z0-9]*)\}\}/g, (all, name: string) => variables.get(name) ?? all)
  if (Array.isArray(value)) return value.map((one) => substitute(one, variables))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, substitute(one, variables)]))
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function asObject(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {}
}

/** Puts namespaced objects, and the ServiceAccounts that bindings name, into the namespace of the add-on. */
function moveNamespace(manifest: JsonObject, namespace: string): void {
  const meta = asObject(manifest['metadata'])
  const before = meta['namespace']
  if (manifest['kind'] === 'Namespace') return
  if (typeof before === 'string') meta['namespace'] = namespace
  if (!Array.isArray(manifest['subjects'])) return
  for (const subject of manifest['subjects']) {
    const one = asObject(subject)
    if (one['kind'] === 'ServiceAccount') one['namespace'] = namespace
  }
}

/** Writes node placement, registries, proxy, resources and replicas into a workload. */
function adjust(manifest: JsonObject, settings: Settings, variables: ReadonlyMap<string, string>): void {
  const kind = String(manifest['kind'])
  const spec = asObject(manifest['spec'])
  const name = textOf(asObject(manifest['metadata'])['name'])
  const plural = `${kind.toLowerCase()}s`
  for (const { workloadID, replicas } of settings.replicaConfigs ?? []) {
    const isScaled = kind === 'Deployment' || kind === 'StatefulSet'
    if (isScaled && matches(workloadID, [plural, name])) spec['replicas'] = replicas
  }
  const pod = asObject(asObject(spec['template'])['spec'])
  if (!Array.isArray(pod['containers'])) return
  const { nodeSelector, tolerations } = settings.nodePlacement ?? {}
  if (nodeSelector) pod['nodeSelector'] = { ...asObject(pod['nodeSelector']), ...(nodeSelector as JsonObject) }
  if (tolerations) {
    const own = Array.isArray(pod['tolerations']) ? pod['tolerations'] : []
    pod['tolerations'] = [...own, ...(tolerations as unknown[])]
  }
  const { httpProxy, httpsProxy, noProxy } = settings.proxyConfig ?? {}
  const env = new Map([
    ...(PROBED.has(kind) ? variables : []),
    ...(httpProxy
      ? ([
          ['HTTP_PROXY', httpProxy],
          ['http_proxy', httpProxy],
        ] as const)
      : []),
    ...(httpsProxy
      ? ([
          ['HTTPS_PROXY', httpsProxy],
          ['https_proxy', httpsProxy],
        ] as const)
      : []),
    ...(noProxy
      ? ([
          ['NO_PROXY', noProxy],
          ['no_proxy', noProxy],
        ] as const)
      : []),
  ])
  const init = Array.isArray(pod['initContainers']) ? pod['initContainers'] : []
  for (const raw of [...pod['containers'], ...init]) {
    const container = asObject(raw)
    if (typeof container['image'] === 'string') container['image'] = mirrored(container['image'], settings.registries)
    if (env.size > 0) {
      const own = Array.isArray(container['env']) ? container['env'] : []
      const kept = own.filter((one) => !env.has(String(asObject(one)['name'])))
      container['env'] = [...kept, ...[...env].map(([key, value]) => ({ name: key, value }))]
    }
    for (const { containerID, resources } of settings.resourceRequirements ?? []) {
      if (matches(containerID, [plural, name, String(container['name'])])) container['resources'] = resources
    }
  }
}

/** `deployments:web:*`; a star stands for any text. */
function matches(pattern: string, parts: readonly string[]): boolean {
  const wanted = pattern.split(':')
  return wanted.length === parts.length && wanted.every((one, at) => matchesGlob(one, parts[at]!))
}

/** The image with its registry replaced; the longest matching source wins. */
function mirrored(image: string, registries: Settings['registries'] = []): string {
  let best: { readonly source: string; readonly mirror: string } | undefined
  for (const { source = '', mirror } of registries) {
    const isPart =
      source === '' ||
      image === source ||
      image.startsWith(`${source}/`) ||
      image.startsWith(`${source}:`) ||
      image.startsWith(`${source}@`)
    if (mirror !== '' && isPart && (best === undefined || source.length >= best.source.length))
      best = { source, mirror }
  }
  if (!best) return image
  return best.source === ''
    ? `${best.mirror}/${image.split('/').at(-1)!}`
    : `${best.mirror}${image.slice(best.source.length)}`
}

function identifierOf(manifest: JsonObject): { group: string; resource: string; namespace: string; name: string } {
  const { group, resource, namespace, name } = manifestId(manifest as unknown as UnknownObject)
  return { group, resource, namespace, name }
}
