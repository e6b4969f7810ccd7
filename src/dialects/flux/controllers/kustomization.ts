// Tested by src/dialects/flux/controllers/kustomization.sim.test.ts.
/** Compiles a Kustomization to a Bundle, and writes the state of the Bundle into its status. */
import { findCondition } from '../../../core/conditions.ts'
import { Stalled, Waiting } from '../../../core/errors.ts'
import { jsonEqual } from '../../../core/json.ts'
import type { Context, Draft, Reconciler, Result } from '../../../engine/reconciler.ts'
import { allowsSecrets } from '../../../kinds/fields/secrets-annotation.ts'
import { keyOf } from '../../../kinds/meta.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { HealthExpressionError, readyExpression } from '../health/health-expressions.ts'
import { fluxRevision, readGitRepository } from '../compile/compile-git-repository.ts'
import { REQUESTED } from '../compile/compile-source.ts'
import { compileKustomization, PLACEMENT_ANNOTATION, readKustomization } from '../compile/compile-kustomization.ts'
import type { Dependency, KustomizationScene, KustomizationSpec } from '../compile/compile-kustomization.ts'
import { clusterTreeOf } from '../compile/cluster-trees.ts'
import { madeFor, madeName } from '../compile/made-objects.ts'
import { GitRepository, Kustomization } from '../kinds.ts'
import { readyState } from '../status/kustomization-status.ts'
import { addFinalizer, keepDeletionPolicy, removeKustomization } from './deletion-policy.ts'
import { isCurrent, refuseErrors, showFindings } from './git-repository.ts'
import { nestedObjects } from './nested.ts'
import type { KustomizationPorts } from './ports.ts'
import { writeMade } from './write-made.ts'

/** As in Flux: the time after which a dependency or a source is looked for again. */
const RETRY_MS = 30_000
/** Interval at which ConfigMaps and Secrets are read again, because the hub does not watch them. */
const POLL_MS = 60_000

interface Scene {
  readonly ports: KustomizationPorts
  readonly context: Context
}

/** Delivers a directory of a source to clusters. */
export function kustomizationReconciler(ports: KustomizationPorts): Reconciler<Kustomization> {
  const nested = nestedObjects(ports)
  return {
    name: 'flux-kustomization',
    async reconcile(draft: Draft<Kustomization>, context: Context): Promise<Result> {
      const object = draft.next
      if (object.metadata.deletionTimestamp) {
        nested.forget(keyOf(object))
        return removeKustomization(draft, { ports, context })
      }
      if (addFinalizer(object)) return {}
      const { spec, findings } = readKustomization(object)
      if (spec.suspend) return suspend(object, { ports, context })
      try {
        return await deliver(draft, { spec, findings }, context)
      } catch (caught) {
        // The policy of a deletion does not wait for a source or a dependency.
        await keepDeletionPolicy(object, { ports, context })
        throw caught
      }
    },
  }

  async function deliver(
    draft: Draft<Kustomization>,
    read: ReturnType<typeof readKustomization>,
    context: Context,
  ): Promise<Result> {
    const object = draft.next
    const { spec, findings } = read
    showFindings(object, findings)
    refuseErrors(findings)
    const repository = sourceOf(object, spec, ports)
    for (const dependency of spec.dependsOn) checkDependency(object, dependency, ports)
    const target = targetOf(object, spec, ports)
    const { spec: source } = readGitRepository(repository)
    const scene: KustomizationScene = {
      target,
      source,
      allowsSecrets: allowsSecrets(repository),
      ...(await variablesOf(object, spec, { ports, context })),
    }
    const desired = compileKustomization(object, spec, scene)
    const bundle = desired.at(-1)!.object.spec as Bundle['spec']
    const found = await nested.follow(object, bundle, { target, context })
    showFindings(object, [...findings, ...found.findings])
    const { namespace = '', name } = object.metadata
    const isDelivered = found.hasOthers || ports.bundleOf(namespace, madeName(Kustomization.kind, name)) !== undefined
    if (!isDelivered) return showNestedOnly(draft, repository)
    const isWritten = await writeMade(object, desired, { ports, context })
    const waitMs = await show(draft, { spec, repository, isWritten }, ports)
    const waits = [
      ...(spec.substituteFrom.length > 0 ? [POLL_MS] : []),
      ...(waitMs > 0 ? [waitMs] : []),
      ...(isWritten ? [RETRY_MS] : []),
    ]
    return waits.length === 0 ? {} : { requeueAfterMs: Math.min(...waits) }
  }
}

/** A build of nested objects alone is applied when they are written. */
function showNestedOnly({ next, conditions }: Draft<Kustomization>, repository: GitRepository): Result {
  const { revision } = repository.status!.artifact!
  const status = (next.status ??= {})
  status.lastAttemptedRevision = revision
  status.lastAppliedRevision = revision
  delete status.clusters
  delete status.inventory
  const requested = next.metadata.annotations?.[REQUESTED]
  if (requested !== undefined) status.lastHandledReconcileAt = requested
  conditions.set('Ready', 'True', 'ReconciliationSucceeded', `Applied revision: ${revision}`)
  return {}
}

/** Flux leaves a suspended object and its status as they are; the Bundle stops following its source. */
async function suspend(object: Kustomization, { ports, context }: Scene): Promise<Result> {
  const { namespace = '', name } = object.metadata
  const bundle = ports.bundleOf(namespace, madeName(Kustomization.kind, name))
  if (!bundle) return {}
  if (bundle.spec.suspend) {
    await keepDeletionPolicy(object, { ports, context })
    return {}
  }
  const spec = { ...bundle.spec, suspend: true, delete: { ...bundle.spec.delete, bundleDeleted: 'Orphan' } }
  const desired = madeFor(object, Kustomization, { kind: Bundle, spec })
  await writeMade(object, [desired], { ports, context })
  return {}
}

/** The GitRepository with an artifact; throws Waiting or Stalled in Flux's words. */
function sourceOf({ metadata, spec }: Kustomization, { source }: KustomizationSpec, ports: KustomizationPorts) {
  const { namespace = '' } = metadata
  const { kind, name } = source
  if (kind !== GitRepository.kind) {
    throw new Stalled('Refused', `spec.sourceRef.kind is ${JSON.stringify(kind)}, and only GitRepository is served.`)
  }
  if (source.namespace !== namespace) {
    throw new Stalled(
      'AccessDenied',
      `can't access '${kind}/${source.namespace}/${name}', cross-namespace references have been blocked`,
    )
  }
  const said = (spec['sourceRef'] as { readonly namespace?: string }).namespace ? `${namespace}/` : ''
  const found = ports.repositoryOf(namespace, name)
  if (!found) throw new Waiting('ArtifactFailed', `Source '${kind}/${said}${name}' not found`, RETRY_MS)
  const made = ports.sourceOf(namespace, madeName(kind, name))
  if (!found.status?.artifact || !made || !isCurrent(made)) {
    const words = findCondition(found.status?.conditions, 'Ready')
    const why = words?.status === 'False' ? `: ${words.message}` : ''
    throw new Waiting('ArtifactFailed', `Source artifact not found, retrying in 30s${why}`, RETRY_MS)
  }
  return found
}

/** Throws Waiting unless a dependency exists and was delivered once; its state is judged for each cluster. */
function checkDependency(object: Kustomization, { namespace, name, readyExpr }: Dependency, ports: KustomizationPorts) {
  const id = `${namespace}/${name}`
  const wait = (problem: string): never => {
    throw new Waiting('DependencyNotReady', `dependency '${id}' ${problem}`, RETRY_MS)
  }
  if (namespace !== object.metadata.namespace) {
    throw new Stalled(
      'AccessDenied',
      `can't access '${Kustomization.kind}/${id}', cross-namespace references have been blocked`,
    )
  }
  const found = ports.kustomizationOf(namespace, name)
  if (!found) return wait(`not found: ${Kustomization.plural}.${Kustomization.group} "${name}" not found`)
  if (readyExpr !== '') {
    if (!isReadyBy(readyExpr, object, found)) wait('is not ready according to readyExpr eval')
    return
  }
  if (!ports.bundleOf(namespace, madeName(Kustomization.kind, name))) wait('is not ready')
}

function isReadyBy(source: string, self: Kustomization, dependency: Kustomization): boolean {
  try {
    return readyExpression(source)(self as unknown as UnknownObject, dependency as unknown as UnknownObject)
  } catch (caught) {
    if (!(caught instanceof HealthExpressionError)) throw caught
    throw new Stalled('InvalidCELExpression', caught.message)
  }
}

/** The clusters of a Kustomization; throws Waiting if none is named. */
function targetOf(
  object: Kustomization,
  { kubeConfigSecret }: KustomizationSpec,
  ports: KustomizationPorts,
): KustomizationScene['target'] {
  const { namespace = '', annotations = {} } = object.metadata
  if (kubeConfigSecret !== '') {
    const cluster = ports.clusterOfSecret(namespace, kubeConfigSecret)
    if (cluster !== undefined) return { cluster }
    throw new Waiting(
      'NoCluster',
      `spec.kubeConfig names Secret ${kubeConfigSecret}, and no Cluster is registered with this Secret; register one with spec.kubeconfigSecret, or use the annotation ${PLACEMENT_ANNOTATION}`,
      RETRY_MS,
    )
  }
  const tree = clusterTreeOf(object)
  if (tree) return { cluster: tree.cluster }
  const placement = annotations[PLACEMENT_ANNOTATION] ?? ports.namespaceAnnotation(namespace, PLACEMENT_ANNOTATION)
  if (placement) return { placement }
  throw new Waiting(
    'NoCluster',
    `no cluster is named: set the annotation ${PLACEMENT_ANNOTATION} on this object or on Namespace ${namespace} to the name of a Placement, or spec.kubeConfig.secretRef to the kubeconfig of a registered cluster`,
    RETRY_MS,
  )
}

/** The objects of `substituteFrom` that exist; the build says which one is missing. */
async function variablesOf(
  { metadata }: Kustomization,
  { substituteFrom }: KustomizationSpec,
  { ports, context }: Scene,
): Promise<Pick<KustomizationScene, 'configMaps' | 'secrets'>> {
  const { namespace = '' } = metadata
  const configMaps: Record<string, Readonly<Record<string, string>>> = {}
  const secrets = new Set<string>()
  for (const { kind, name } of substituteFrom) {
    if (kind === 'Secret') {
      if (await ports.hasSecret(namespace, name, context.signal)) secrets.add(name)
      continue
    }
    const data = await ports.configMapData(namespace, name, context.signal)
    if (data) configMaps[name] = data
  }
  return { configMaps, secrets: [...secrets] }
}

interface Shown {
  readonly spec: KustomizationSpec
  readonly repository: GitRepository
  /** Whether the Bundle was written in this pass. */
  readonly isWritten: boolean
}

/** Writes the status; returns the milliseconds until counts may be written again, or 0. */
async function show(
  draft: Draft<Kustomization>,
  { spec, repository, isWritten }: Shown,
  ports: KustomizationPorts,
): Promise<number> {
  const { next, conditions } = draft
  const { namespace = '', name, annotations = {} } = next.metadata
  const bundle = ports.bundleOf(namespace, madeName(Kustomization.kind, name))
  const counts = bundle && ports.countsOf(bundle)
  const { spec: source } = readGitRepository(repository)
  const built = bundle?.status?.sourceRevision
  const newest = repository.status!.artifact!.revision
  const attempted = built === undefined ? newest : fluxRevision(source.ref, built)
  const failure = bundle && ports.failureOf(bundle)
  const state = readyState({ bundle, counts, revision: attempted, newest, failure, isWritten })
  const waiting =
    state.reason === 'Progressing'
      ? spec.dependsOn.find(
          ({ readyExpr, ...one }) => readyExpr === '' && !isReady(ports.kustomizationOf(one.namespace, one.name)),
        )
      : undefined
  const shown = waiting
    ? {
        status: 'False' as const,
        reason: 'DependencyNotReady',
        message: `dependency '${waiting.namespace}/${waiting.name}' is not ready. ${state.message}`,
      }
    : state
  const clusters = counts && { total: counts.total, ready: counts.ready }
  const before = conditions.get('Ready')
  const key = keyOf(next)
  const waitMs = ports.statusThrottle.waitMs(key)
  const isOnlyCounts =
    before?.status === shown.status &&
    before.reason === shown.reason &&
    next.status?.lastAttemptedRevision === attempted
  if (waitMs > 0 && isOnlyCounts && !jsonEqual(next.status?.clusters, clusters)) return waitMs
  ports.statusThrottle.note(key)
  const status = (next.status ??= {})
  if (built !== undefined) status.lastAttemptedRevision = attempted
  if (clusters) status.clusters = clusters
  if (shown.status === 'True') {
    status.lastAppliedRevision = attempted
    const entries = bundle && (await ports.inventoryOf(bundle))
    if (entries) status.inventory = { entries }
    else delete status.inventory
  }
  const requested = annotations[REQUESTED]
  if (requested !== undefined) status.lastHandledReconcileAt = requested
  conditions.set('Ready', shown.status, shown.reason, shown.message.slice(0, 4096))
  if (shown.status === 'Unknown') conditions.set('Reconciling', 'True', shown.reason, shown.message.slice(0, 4096))
  return 0
}

function isReady(object: Kustomization | undefined): boolean {
  return findCondition(object?.status?.conditions, 'Ready')?.status === 'True'
}
