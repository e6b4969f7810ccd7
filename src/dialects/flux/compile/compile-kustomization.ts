/** Compiles a Kustomization to a Bundle, and a Placement where it names its cluster itself. */
import { compact } from '../../../core/compact.ts'
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { formatDuration, parseDuration } from '../../../core/time/duration.ts'
import type { BundleOptions } from '../../../kinds/fields/bundle-options.ts'
import { allowsSecrets } from '../../../kinds/fields/secrets-annotation.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { ALLOW_DROP_ANNOTATION, Placement } from '../../../kinds/native/placement.ts'
import type { Finding } from '../../read-fields.ts'
import type { FluxBuilderOptions } from '../build/flux-builder.ts'
import { KUSTOMIZATION } from '../fields.ts'
import { GitRepository, Kustomization } from '../kinds.ts'
import { listOf, readSpec, textOf } from './compile-source.ts'
import type { GitRepositorySpec } from './compile-git-repository.ts'
import { nameInTree } from './cluster-trees.ts'
import { madeFor, madeName } from './made-objects.ts'
import type { Desired } from './made-objects.ts'
import { compileHealth, compileIgnore, healthProblem, ignoreProblem } from './object-rules.ts'

/** The annotation that names the RolloutPlan of the clusters. */
export const PLAN_ANNOTATION = 'flotilla.dev/rollout-plan'
/** The annotation with the value `Ignore` accepts SOPS files whose authentication code does not fit, as Flux does. */
const SOPS_MAC_ANNOTATION = 'flotilla.dev/sops-mac'
/** The annotation with the value `Agent` leaves decryption to the agents, on the object or its Namespace. */
export const DECRYPTION_ANNOTATION = 'flotilla.dev/decryption'
/** The annotation that names the Placement, on the object or its Namespace. */
export const PLACEMENT_ANNOTATION = 'flotilla.dev/placement'

/** The fields of a Kustomization that its build reads. */
const BUILD_FIELDS = [
  'path',
  'targetNamespace',
  'namePrefix',
  'nameSuffix',
  'commonMetadata',
  'patches',
  'images',
  'components',
  'ignoreMissingComponents',
  'buildMetadata',
  'postBuild',
]
const DELETION_POLICIES = ['MirrorPrune', 'Delete', 'WaitForTermination', 'Orphan']
const INCLUDED = '.flotilla-include'

/** An entry of `spec.dependsOn`. */
export interface Dependency {
  readonly namespace: string
  readonly name: string
  readonly readyExpr: string
}

/** An entry of `postBuild.substituteFrom`. */
export interface SubstituteFrom {
  readonly kind: 'ConfigMap' | 'Secret'
  readonly name: string
  readonly optional: boolean
}

/** The spec of a Kustomization as Flux reads it. */
export interface KustomizationSpec {
  readonly source: { readonly kind: string; readonly namespace: string; readonly name: string }
  readonly dependsOn: readonly Dependency[]
  readonly substituteFrom: readonly SubstituteFrom[]
  /** The Secret with the kubeconfig of the cluster; empty for none. */
  readonly kubeConfigSecret: string
  /** How files of SOPS are decrypted. */
  readonly decryption?: { readonly secret: string }
  readonly suspend: boolean
  readonly fields: JsonObject
}

/** The spec, and findings about it. */
export function readKustomization({ metadata, spec }: Kustomization): {
  readonly spec: KustomizationSpec
  readonly findings: readonly Finding[]
} {
  const { read, findings } = readSpec(spec, KUSTOMIZATION)
  const wrong = (message: string): void => void findings.push({ level: 'error', message: `spec.${message}` })
  const { namespace = '' } = metadata
  const source = isObject(read['sourceRef']) ? read['sourceRef'] : {}
  const postBuild = isObject(read['postBuild']) ? read['postBuild'] : {}
  const decryption = isObject(read['decryption']) ? read['decryption'] : undefined
  const provider = textOf(decryption?.['provider'])
  if (decryption && provider !== 'sops') {
    wrong(`decryption.provider is ${JSON.stringify(provider)}; only sops is supported`)
  }
  const decryptionSecret = isObject(decryption?.['secretRef']) ? textOf(decryption['secretRef']['name']) : ''
  const kubeConfig = isObject(read['kubeConfig']) ? read['kubeConfig'] : {}
  const policy = textOf(read['deletionPolicy'])
  if (policy !== '' && !DELETION_POLICIES.includes(policy)) {
    wrong(`deletionPolicy is ${JSON.stringify(policy)}; use one of ${DELETION_POLICIES.join(', ')}`)
  }
  for (const field of ['interval', 'timeout']) {
    const value = textOf(read[field])
    if ((value !== '' || field === 'interval') && !(Number(parseDuration(value)) > 0))
      wrong(`${field} is ${JSON.stringify(value)}; write a duration such as 5m`)
  }
  for (const problem of [ignoreProblem(read['ignore'], 'ignore'), healthProblem(read['healthCheckExprs'])]) {
    if (problem !== undefined) wrong(problem)
  }
  return {
    findings,
    spec: {
      source: {
        kind: textOf(source['kind']),
        namespace: textOf(source['namespace']) || namespace,
        name: textOf(source['name']),
      },
      dependsOn: listOf(read['dependsOn']).map((one) => ({
        namespace: textOf(one['namespace']) || namespace,
        name: textOf(one['name']),
        readyExpr: textOf(one['readyExpr']),
      })),
      substituteFrom: listOf(postBuild['substituteFrom']).flatMap((one) => {
        const kind = one['kind']
        if (kind !== 'ConfigMap' && kind !== 'Secret') return []
        return [{ kind, name: textOf(one['name']), optional: one['optional'] === true }]
      }),
      kubeConfigSecret: isObject(kubeConfig['secretRef']) ? textOf(kubeConfig['secretRef']['name']) : '',
      ...(decryption && { decryption: { secret: decryptionSecret } }),
      suspend: read['suspend'] === true,
      fields: read,
    },
  }
}

/** What a Kustomization is compiled with. */
export interface KustomizationScene {
  /** A Placement of the namespace, or the one Cluster that the Kustomization names. */
  readonly target: { readonly placement: string } | { readonly cluster: string }
  readonly source: Pick<GitRepositorySpec, 'include' | 'ignore'> & { readonly isBucket?: boolean }
  /** Whether the source allows Secrets in its content. */
  readonly allowsSecrets: boolean
  /** The data of the ConfigMaps of `substituteFrom` that exist. */
  readonly configMaps: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** The names of the Secrets of `substituteFrom` that exist. */
  readonly secrets: readonly string[]
  /** Whether the agents have the keys of `spec.decryption`. */
  readonly decryptsInCluster?: boolean
  /** The Bundles that must be ready before, as `namespace/name`. */
  readonly depends?: readonly string[]
}

/** The policies of a Bundle for objects that are no longer wanted. */
export type DeletionPolicies = Readonly<Record<'removed' | 'unplaced' | 'bundleDeleted', 'Delete' | 'Orphan'>>

/** The objects of a Kustomization, in the order in which they are written. */
export function compileKustomization(
  object: Kustomization,
  spec: KustomizationSpec,
  scene: KustomizationScene,
): Desired[] {
  const { target } = scene
  const { annotations = {}, name } = object.metadata
  const token = annotations[ALLOW_DROP_ANNOTATION]
  const passed = token === undefined ? {} : { annotations: { [ALLOW_DROP_ANNOTATION]: token } }
  const placement = 'placement' in target ? target.placement : madeName(Kustomization.kind, name)
  const own =
    'placement' in target
      ? []
      : [
          madeFor(object, Kustomization, {
            kind: Placement,
            ...passed,
            spec: {
              clusterSelector: {},
              predicates: [{ cel: [`cluster.metadata.name == ${JSON.stringify(target.cluster)}`] }],
            },
          }),
        ]
  const plan = annotations[PLAN_ANNOTATION]
  const secrets = Object.fromEntries(scene.secrets.map((secret, at) => [secret, `secret_${at}`]))
  const include = scene.source.include.map(({ repository, fromPath, toPath }, at) => ({
    source: madeName(GitRepository.kind, repository),
    at: `${INCLUDED}/${at}`,
    from: fromPath,
    to: toPath,
  }))
  const bundle: Bundle['spec'] = {
    source: compact({
      name: madeName(spec.source.kind, spec.source.name),
      include: include.length === 0 ? undefined : include.map(({ source, at }) => ({ source, at })),
    }),
    builder: { name: 'flux', options: builderOptions(object, spec, { ...scene, secrets, include }) },
    ...compact({
      inputs:
        scene.secrets.length === 0
          ? undefined
          : scene.secrets.map((secret) => ({ name: secrets[secret]!, secret: { name: secret } })),
      secrets: scene.allowsSecrets || allowsSecrets(object) ? ('Allow' as const) : undefined,
      suspend: spec.suspend ? true : undefined,
    }),
    ...compact({ decryption: decryptionOf(object, spec, scene) }),
    placement,
    ...compact({ rollout: plan === undefined ? undefined : { plan } }),
    ...optionsOf(object, spec, scene.depends ?? []),
  }
  return [...own, madeFor(object, Kustomization, { kind: Bundle, ...passed, spec: bundle })]
}

function decryptionOf(
  { metadata }: Kustomization,
  { decryption }: KustomizationSpec,
  { decryptsInCluster }: Pick<KustomizationScene, 'decryptsInCluster'>,
): Bundle['spec']['decryption'] | undefined {
  if (!decryption) return undefined
  const { secret } = decryption
  const isIgnored = metadata.annotations?.[SOPS_MAC_ANNOTATION] === 'Ignore'
  return compact({
    secret: secret === '' ? undefined : secret,
    at: decryptsInCluster ? ('Agent' as const) : undefined,
    mac: isIgnored ? ('Ignore' as const) : undefined,
  })
}

function builderOptions(
  object: Kustomization,
  { fields }: KustomizationSpec,
  scene: Pick<KustomizationScene, 'source' | 'configMaps'> & Pick<FluxBuilderOptions, 'secrets' | 'include'>,
): JsonObject {
  const { metadata } = object
  const options: FluxBuilderOptions = compact({
    // Owner labels in the cluster are those that Flux sets there.
    name: nameInTree(object),
    namespace: metadata.namespace ?? '',
    spec: Object.fromEntries(BUILD_FIELDS.flatMap((field) => (field in fields ? [[field, fields[field]]] : []))),
    ignore: scene.source.ignore === '' ? undefined : scene.source.ignore,
    isBucket: scene.source.isBucket,
    include:
      scene.include && scene.include.length > 0
        ? scene.include.map(({ at, from, to }) => ({ at, from, to }))
        : undefined,
    configMaps: Object.keys(scene.configMaps).length === 0 ? undefined : scene.configMaps,
    secrets: scene.secrets && Object.keys(scene.secrets).length > 0 ? scene.secrets : undefined,
  })
  return options as unknown as JsonObject
}

/** What is deleted. It depends on the Kustomization alone, and is known while the rest of it cannot be compiled. */
export function deletionOf({ fields, suspend }: Pick<KustomizationSpec, 'fields' | 'suspend'>): DeletionPolicies {
  const prunes = fields['prune'] === true
  const policy = textOf(fields['deletionPolicy']) || 'MirrorPrune'
  // A policy that is not known deletes nothing.
  const deletes = policy === 'MirrorPrune' ? prunes : ['Delete', 'WaitForTermination'].includes(policy)
  return {
    removed: prunes ? 'Delete' : 'Orphan',
    unplaced: prunes ? 'Delete' : 'Orphan',
    // Flux removes nothing when a suspended Kustomization is deleted.
    bundleDeleted: deletes && !suspend ? 'Delete' : 'Orphan',
  }
}

/** Whether a Kustomization is ready when its objects are, and not as soon as they are applied. */
export function waitsForHealth(fields: JsonObject): boolean {
  return fields['wait'] === true || listOf(fields['healthChecks']).length > 0
}

/** How agents apply the objects. */
function optionsOf({ metadata }: Kustomization, spec: KustomizationSpec, depends: readonly string[]): BundleOptions {
  const { fields } = spec
  const account = textOf(fields['serviceAccountName'])
  const isWaiting = waitsForHealth(fields)
  return compact({
    apply: compact({
      force: true,
      timeout: compiledTimeout(fields),
      immutable: fields['force'] === true ? ('Recreate' as const) : undefined,
    }),
    delete: { ...deletionOf(spec) },
    ignore: compileIgnore(fields['ignore']),
    health: isWaiting ? compileHealth(fields['healthCheckExprs']) : [{ ignore: true }],
    dependsOn: depends.length === 0 ? undefined : depends.map((bundle) => ({ bundle })),
    executor: account === '' ? undefined : { namespace: metadata.namespace ?? '', name: account },
  })
}

const LEAST_TIMEOUT_MS = 30_000

/** How long agents wait for the objects, for example `4m30s`. */
export function compiledTimeout(fields: JsonObject): string {
  return formatDuration(timeoutMs(fields))
}

function timeoutMs(fields: JsonObject): number {
  const asked = parseDuration(textOf(fields['timeout']))
  if (asked !== undefined && asked > 0) return asked
  return Math.max(LEAST_TIMEOUT_MS, (parseDuration(textOf(fields['interval'])) ?? 0) - LEAST_TIMEOUT_MS)
}
