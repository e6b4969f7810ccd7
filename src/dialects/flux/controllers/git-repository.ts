// Tested by src/dialects/flux/controllers/kustomization.sim.test.ts.
/** Compiles a GitRepository to a Source, and writes the state of the Source into its status. */
import { findCondition } from '../../../core/conditions.ts'
import { Stalled } from '../../../core/errors.ts'
import type { Context, Draft, Reconciler, Result } from '../../../engine/reconciler.ts'
import type { Condition, KubeObject } from '../../../kinds/meta.ts'
import type { Source } from '../../../kinds/native/source.ts'
import { identityOf, selectionOf } from '../../../source/fetch-request.ts'
import { findingText } from '../../read-fields.ts'
import type { Finding } from '../../read-fields.ts'
import { fluxRevision, readGitRepository, sourceOf } from '../compile/compile-git-repository.ts'
import { listOf, REQUESTED } from '../compile/compile-source.ts'
import type { GitRepositorySpec } from '../compile/compile-git-repository.ts'
import { CLUSTERS_ANNOTATION, compileClusterTrees, isOfTrees } from '../compile/cluster-trees.ts'
import { madeName } from '../compile/made-objects.ts'
import { GitRepository } from '../kinds.ts'
import type { FluxArtifact } from '../kind-parts.ts'
import type { GitRepositoryPorts } from './ports.ts'
import { writeMade } from './write-made.ts'

const MAX_FINDINGS = 100

/** Follows a repository. */
export function gitRepositoryReconciler(ports: GitRepositoryPorts): Reconciler<GitRepository> {
  return {
    name: 'flux-git-repository',
    async reconcile(draft: Draft<GitRepository>, context: Context): Promise<Result> {
      const object = draft.next
      if (object.metadata.deletionTimestamp) return {}
      const { spec, findings } = readGitRepository(object)
      showFindings(object, findings)
      refuseErrors(findings)
      await writeMade(object, [sourceOf(object, spec)], { ports, context })
      const { name, namespace = '' } = object.metadata
      // Flux leaves the status of a suspended object as it is.
      if (spec.suspend) return {}
      const source = ports.sourceOf(namespace, madeName(GitRepository.kind, name))
      show(draft, spec, source, ports)
      await followTrees(object, findings, source, { ports, context })
      return {}
    },
  }
}

interface Scene {
  readonly ports: GitRepositoryPorts
  readonly context: Context
}

/** Writes the Kustomizations of the directories of clusters. One whose directory is gone stays: its build says so. */
async function followTrees(
  object: GitRepository,
  findings: readonly Finding[],
  source: Source | undefined,
  { ports, context }: Scene,
): Promise<void> {
  if (object.metadata.annotations?.[CLUSTERS_ANNOTATION] === undefined || !source || !isCurrent(source)) return
  const paths = await ports.pathsIn(source.status!.artifact!.digest)
  const trees = compileClusterTrees(object, paths, (name) => ports.isCluster(name))
  showFindings(object, [...findings, ...trees.findings])
  await writeMade(object, trees.desired, { ports, context, isOurs: isOfTrees })
}

/** Throws Stalled with the first error. */
export function refuseErrors(findings: readonly Finding[]): void {
  const wrong = findings.find(({ level }) => level === 'error')
  if (wrong) throw new Stalled('Refused', `${findingText(wrong)}. Nothing that is delivered is taken away.`)
}

/** Fields without effect, in the status. */
export function showFindings(object: { status?: { findings?: string[] } }, findings: readonly Finding[]): void {
  const status = (object.status ??= {})
  if (findings.length === 0) delete status.findings
  else status.findings = findings.slice(0, MAX_FINDINGS).map((finding) => findingText(finding).slice(0, 2048))
}

/** Whether an artifact is of the present spec of its Source. */
export function isCurrent({ spec, status }: Source): boolean {
  const { artifact } = status ?? {}
  return artifact !== undefined && artifact.identity === identityOf(spec) && artifact.selection === selectionOf(spec)
}

function show(
  draft: Draft<GitRepository>,
  spec: GitRepositorySpec,
  source: Source | undefined,
  ports: GitRepositoryPorts,
): void {
  const { conditions, next } = draft
  const status = (next.status ??= {})
  const ready = findCondition(source?.status?.conditions, 'Ready')
  const requested = next.metadata.annotations?.[REQUESTED]
  if (requested !== undefined && source?.status?.hint === requested.slice(0, 128))
    status.lastHandledReconcileAt = requested
  if (!source || !isCurrent(source)) {
    const message = ready?.status === 'False' ? ready.message : 'building artifact: new revision is being fetched'
    if (ready?.status === 'False') fail(draft, ready)
    else conditions.set('Ready', 'Unknown', 'Progressing', message)
    return
  }
  const artifact = artifactOf(source, spec)
  const included = spec.include.map(({ repository }) => ports.repositoryOf(next.metadata.namespace ?? '', repository))
  const missing = spec.include.find((_, at) => included[at]?.status?.artifact === undefined)
  if (missing) {
    const message = `could not get resource for include '${missing.repository}': no artifact available`
    conditions.set('Ready', 'False', 'IncludeUnavailable', message)
    return
  }
  status.artifact = artifact
  setOrDelete(
    status,
    'includedArtifacts',
    included.flatMap((one) => one?.status?.artifact ?? []),
  )
  setOrDelete(status, 'observedInclude', listOf(next.spec['include']))
  setOrDelete(status, 'observedSparseCheckout', [...spec.sparseCheckout])
  if (spec.recurseSubmodules) status.observedRecurseSubmodules = true
  else delete status.observedRecurseSubmodules
  showVerified(draft, spec, source)
  if (spec.ignore === '') delete status.observedIgnore
  else status.observedIgnore = spec.ignore
  const stored = `stored artifact for revision '${artifact.revision}'`
  conditions.set('ArtifactInStorage', 'True', 'Succeeded', stored)
  if (ready?.status === 'False') fail(draft, ready)
  else {
    conditions.remove('FetchFailed')
    conditions.set('Ready', 'True', 'Succeeded', stored)
  }
}

/** The condition about signatures, of the artifact that is there. */
function showVerified({ conditions, next }: Draft<GitRepository>, { verify }: GitRepositorySpec, source: Source): void {
  const status = (next.status ??= {})
  const { verified } = source.status!.artifact!
  if (!verify || verified === undefined) {
    conditions.remove('SourceVerified')
    delete status.sourceVerificationMode
    return
  }
  status.sourceVerificationMode = verify.mode
  conditions.set('SourceVerified', 'True', 'Succeeded', `verified signature of ${verified}`)
}

function fail({ conditions }: Draft<GitRepository>, ready: { readonly message: string }): void {
  const message = `failed to checkout and determine revision: ${ready.message}`
  conditions.set('FetchFailed', 'True', 'GitOperationFailed', message)
  conditions.set('Ready', 'False', 'GitOperationFailed', message)
}

type Status = NonNullable<GitRepository['status']>

function setOrDelete<K extends 'includedArtifacts' | 'observedInclude' | 'observedSparseCheckout'>(
  status: Status,
  field: K,
  items: NonNullable<Status[K]>,
): void {
  if (items.length === 0) delete status[field]
  else status[field] = items
}

function artifactOf({ status }: Source, { ref }: GitRepositorySpec): FluxArtifact {
  const { revision, digest, fetchedAt, bytes } = status!.artifact!
  return { revision: fluxRevision(ref, revision), digest, lastUpdateTime: fetchedAt, size: bytes }
}

/** Keeps condition Reconciling in a pass that writes nothing: the engine removes it from an object without it. */
export function keepReconciling({
  seen,
  conditions,
}: Draft<KubeObject & { readonly status?: { conditions?: Condition[] } }>): void {
  const found = findCondition(seen.status?.conditions, 'Reconciling')
  if (found) conditions.set('Reconciling', found.status, found.reason, found.message)
}
