/** The options for applying the bundle of a directory, the same for all its clusters. */
import { compact } from '../../../core/compact.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { BundleOptions } from '../../../kinds/fields/bundle-options.ts'
import type { BundleCompileContext } from './compile-bundle.ts'
import type { ComparePatch, FleetOptions, FleetYaml } from '../files/fleet-yaml.ts'
import { matchesAlternative } from './targets.ts'
import { groupOf } from '../../../plan/objects/object-id.ts'

/** The namespace of Fleet's agent in each cluster, with its service accounts. */
const AGENT_NAMESPACE = 'cattle-fleet-system'

/** The options of fleet.yaml and its GitRepo. */
export function applyOptions(
  yaml: FleetYaml,
  { options, workspace }: BundleCompileContext,
  warn: (message: string) => void,
): BundleOptions {
  const drift = options.correctDrift?.enabled ? options.correctDrift : yaml.correctDrift
  const keep = yaml.keepResources === true || options.keepResources === true
  const { helm } = yaml
  const account = options.serviceAccount ?? yaml.serviceAccount
  const recreate = helm?.force === true || drift?.force === true
  const removesNamespaces = yaml.deleteNamespace === true || options.deleteNamespace === true
  const patches = (yaml.diff?.comparePatches ?? []).flatMap((patch) => ignoreOf(patch, warn))
  const conditions = (yaml.ignore?.conditions ?? []).map(textsOf).filter((fields) => Object.keys(fields).length > 0)
  const depends = dependenciesOf(yaml, workspace, warn)
  return compact({
    apply: compact({
      takeover: helm?.takeOwnership ? 'Always' : 'IfNoDiff',
      timeout: helm?.timeoutSeconds && helm.timeoutSeconds > 0 ? `${helm.timeoutSeconds}s` : undefined,
      immutable: recreate ? ('Recreate' as const) : undefined,
    }),
    drift: { mode: drift?.enabled ? 'Correct' : 'Report' },
    namespaces: compact({
      create: yaml.createNamespace !== false,
      labels: isSaid(yaml.namespaceLabels) ? { ...yaml.namespaceLabels } : undefined,
      annotations: isSaid(yaml.namespaceAnnotations) ? { ...yaml.namespaceAnnotations } : undefined,
      delete: removesNamespaces ? true : undefined,
    }),
    delete:
      keep || yaml.deleteCRDResources
        ? {
            ...(keep ? { unplaced: 'Orphan' as const, bundleDeleted: 'Orphan' as const } : {}),
            ...(yaml.deleteCRDResources
              ? { named: [{ group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition' }] }
              : {}),
          }
        : undefined,
    ignore: patches.length === 0 ? undefined : patches,
    ignoreConditions: conditions.length === 0 ? undefined : conditions,
    dependsOn: depends.length === 0 ? undefined : depends,
    executor: account ? { namespace: AGENT_NAMESPACE, name: account } : undefined,
  })
}

function isSaid(map: object | undefined): boolean {
  return map !== undefined && Object.keys(map).length > 0
}

function textsOf(fields: JsonObject): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      typeof value === 'string'
        ? [[name, value]]
        : typeof value === 'boolean'
          ? [[name, value ? 'True' : 'False']]
          : [],
    ),
  )
}

function ignoreOf(patch: ComparePatch, warn: (message: string) => void): NonNullable<BundleOptions['ignore']> {
  const { apiVersion = '', kind, namespace, name, jsonPointers = [], operations = [] } = patch
  const what = `diff.comparePatches of ${kind ?? 'objects'} ${name ?? ''}`.trimEnd()
  if (operations.some(({ op }) => op === 'ignore'))
    warn(`${what}: op ignore has no effect: an object that is missing is drift`)
  const paths = operations.flatMap(({ op, path }) => (op !== 'ignore' && path ? [path] : []))
  const pointers = [...new Set([...jsonPointers, ...paths])]
  if (pointers.length === 0) return []
  return [
    compact({
      group: apiVersion === '' ? undefined : groupOf({ apiVersion }),
      kind: kind || undefined,
      namespace: namespace || undefined,
      name: name || undefined,
      pointers,
    }),
  ]
}

type Dependency = NonNullable<BundleOptions['dependsOn']>[number]

const STATE_OF: Readonly<Record<string, NonNullable<Dependency['states']>[number]>> = {
  Ready: 'Ready',
  Modified: 'Drifted',
  NotReady: 'Progressing',
  Pending: 'Progressing',
  WaitApplied: 'Progressing',
  OutOfSync: 'Progressing',
  ErrApplied: 'Failed',
}

function dependenciesOf(
  yaml: FleetYaml,
  workspace: BundleCompileContext['workspace'],
  warn: (message: string) => void,
): Dependency[] {
  return (yaml.dependsOn ?? []).flatMap(({ name, selector, acceptedStates = [] }) => {
    const states = [...new Set(acceptedStates.map((state) => STATE_OF[state]!))]
    const wanted = states.length === 0 ? {} : { states }
    if (name) return [{ bundle: name, ...wanted }]
    const found = workspace.bundles.filter((one) => matchesAlternative({ clusterSelector: selector ?? {} }, one))
    if (found.length === 0 && workspace.isWhole !== false)
      warn('dependsOn: no bundle has these labels, so nothing is waited for')
    return found.map((one) => ({ bundle: one.name, ...wanted }))
  })
}

/** The options of a bundle that a field of a customization changes. */
const CHANGED: Readonly<Partial<Record<keyof FleetOptions, readonly (keyof BundleOptions)[]>>> = {
  namespaceLabels: ['namespaces'],
  namespaceAnnotations: ['namespaces'],
  createNamespace: ['namespaces'],
  deleteNamespace: ['namespaces'],
  serviceAccount: ['executor'],
  keepResources: ['delete'],
  deleteCRDResources: ['delete'],
  correctDrift: ['drift', 'apply'],
  diff: ['ignore'],
  ignore: ['ignoreConditions'],
}

/** The options of a customization, over the options of fleet.yaml. */
export function customOptions(yaml: FleetYaml, custom: FleetOptions, scene: BundleCompileContext): BundleOptions {
  const { helm } = custom
  const names = (Object.keys(CHANGED) as (keyof FleetOptions)[]).filter((field) => custom[field] !== undefined)
  const appliesOtherwise = helm?.timeoutSeconds !== undefined || helm?.force === true || helm?.takeOwnership === true
  const changed = new Set([
    ...names.flatMap((field) => CHANGED[field] ?? []),
    ...(appliesOtherwise ? ['apply' as const] : []),
  ])
  if (changed.size === 0) return {}
  const { dependsOn: _dependsOn, ...base } = yaml
  const merged: FleetYaml = {
    ...base,
    namespaceLabels: { ...yaml.namespaceLabels, ...custom.namespaceLabels },
    namespaceAnnotations: { ...yaml.namespaceAnnotations, ...custom.namespaceAnnotations },
    createNamespace: custom.createNamespace ?? yaml.createNamespace ?? true,
    deleteNamespace: custom.deleteNamespace ?? yaml.deleteNamespace ?? false,
    // Fleet cannot switch this off for some clusters either.
    keepResources: yaml.keepResources === true || custom.keepResources === true,
    deleteCRDResources: custom.deleteCRDResources ?? yaml.deleteCRDResources ?? false,
    ...compact({ correctDrift: custom.correctDrift }),
    diff: { comparePatches: mergePatches(yaml.diff?.comparePatches ?? [], custom.diff?.comparePatches ?? []) },
    ignore: { conditions: [...(yaml.ignore?.conditions ?? []), ...(custom.ignore?.conditions ?? [])] },
    helm: {
      ...yaml.helm,
      ...compact({ timeoutSeconds: helm?.timeoutSeconds ? helm.timeoutSeconds : undefined }),
      force: yaml.helm?.force === true || helm?.force === true,
      takeOwnership: yaml.helm?.takeOwnership === true || helm?.takeOwnership === true,
    },
  }
  const { correctDrift, serviceAccount, ...options } = scene.options
  const account = custom.serviceAccount ?? serviceAccount
  const all = applyOptions(
    merged,
    {
      ...scene,
      options: {
        ...options,
        ...compact({
          serviceAccount: account || undefined,
          correctDrift: correctDrift && !custom.correctDrift ? correctDrift : undefined,
        }),
      },
    },
    () => {},
  )
  return Object.fromEntries([...changed].flatMap((name) => (all[name] === undefined ? [] : [[name, all[name]]])))
}

function mergePatches(base: readonly ComparePatch[], over: readonly ComparePatch[]): ComparePatch[] {
  const keyOf = ({ apiVersion, kind, namespace, name }: ComparePatch): string =>
    JSON.stringify([apiVersion, kind, namespace, name])
  return [...new Map([...base, ...over].map((patch) => [keyOf(patch), patch])).values()]
}
