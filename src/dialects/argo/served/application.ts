// Tested by src/dialects/argo/served/application.sim.test.ts
/** Compiles an Application to Sources, Placement, RolloutPlan and Bundles, starts its syncs, and writes its status. */
import { compact } from '../../../core/compact.ts'
import { digestOfJson, isDigest } from '../../../core/crypto/digest.ts'
import type { Digest } from '../../../core/crypto/digest.ts'
import { jsonEqual } from '../../../core/json.ts'
import { nameSome } from '../../../core/text/name-some.ts'
import { parseTime } from '../../../core/time/time.ts'
import type { Context, Draft, Reconciler, Result } from '../../../engine/reconciler.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import { keyOf } from '../../../kinds/meta.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import { Bundle, REMOVAL_FINALIZER } from '../../../kinds/native/bundle.ts'
import type { Rollout } from '../../../kinds/native/rollout.ts'
import { Source } from '../../../kinds/native/source.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import { describeObject, selects } from '../../../plan/objects/object-id.ts'
import type { ObjectId } from '../../../plan/objects/object-id.ts'
import { clusterInputsOf } from '../../../plan/release/variants.ts'
import { isProjectReason } from '../../../plan/projects/project-of.ts'
import type { ObjectSet } from '../../../wire/document/cluster-document.ts'
import { POLL, REFRESH, SYNC, TERMINATE } from '../annotations.ts'
import { isAutomated } from '../application.ts'
import { ARGO_NAMESPACE } from '../kinds.ts'
import type { Application, ApplicationStatus } from '../kinds.ts'
import type { CheckedProject } from '../projects/validate-project.ts'
import { worstRow } from './application-status.ts'
import type { Revisions } from './application-status.ts'
import { fetchProblem, otherContent } from './current-content.ts'
import { admittedMs, stopOutsideWindow, windowRings } from './close-window.ts'
import { compileServed } from './compile-served.ts'
import type { CompiledApplications, ServedApplication } from './compile-served.ts'
import { LOCAL_NAME, LOCAL_SERVER } from '../applicationset/clusters.ts'
import { argoNameOf, isLocalCluster, serverOf, spellingsOf } from '../clusters/destinations.ts'
import {
  beginOperation,
  endOperation,
  isDeployed,
  noteAutomated,
  startRollouts,
  terminateOperation,
} from './operations/operations.ts'
import { renderNested, syncNested } from './nested/nested-applications.ts'
import type { RenderedNested } from './nested/nested-applications.ts'
import { ANY_PROJECT, NESTED_SELECTORS } from './nested/nested-content.ts'
import type { NestedContent, NestedDecision } from './nested/nested-content.ts'
import { placementProblem, releaseMove, stopBeforeMove } from './move-application.ts'
import { STARTED } from './ports.ts'
import type { ArgoPorts } from './ports.ts'
import {
  allowsEverything,
  closedWindow,
  projectNotes,
  projectRefusal,
  projectSpec,
  refusedObject,
} from './project-limits.ts'
import type { NamedDestination } from './project-limits.ts'
import type { Turn } from '../sync/rolling-sync.ts'
import { createTurns, rollingSetOf, specKey } from './rolling/rolling-applications.ts'
import type { RollingSet } from './rolling/rolling-applications.ts'
import { removeApplication } from './remove-application.ts'
import { createAccess } from './repository-credentials.ts'
import { sourceOwnerOf } from './served-objects.ts'
import type { Desired } from './served-objects.ts'
import { listResources } from './list-resources.ts'
import type { BundleContents } from './list-resources.ts'
import { show, showProblem } from './show-application.ts'
import { excludedFrom, settingNotes } from '../settings/argocd-settings.ts'
import { activeOverrides, effectiveSpec, noteOverrides, sourceList } from './operations/sync-overrides.ts'
import { compileWith, fetchedSources, pruneObjects, writeObjects } from './write-objects.ts'
import type { Fetched } from './write-objects.ts'

/** Time after which a closed sync window, or an object that could not be written, is looked at again. */
const AGAIN_MS = 60_000
const MAX_RESOURCES = 500

interface Known {
  readonly digest: Digest
  readonly compiled: CompiledApplications
  /** What the content has for the hub, if the destination is the local cluster. */
  readonly nested: RenderedNested | undefined
}

/** An Application whose destination and project are known. */
interface Placed {
  /** If absent, the destination is the local cluster, which no Cluster is. */
  readonly cluster: Cluster | undefined
  /** Why there is no Cluster for the objects that are not for the hub. */
  readonly unplaced?: string
  readonly destination: NamedDestination
  readonly project: { readonly name: string; readonly spec: CheckedProject }
  /** Why the project does not permit the source that a sync asked for. */
  readonly refusedSource: string | undefined
}

export function applicationReconciler(ports: ArgoPorts): Reconciler<Application> {
  const known = new Map<string, Known>()
  const turns = createTurns(ports)
  return {
    name: 'argo-application',
    async reconcile(draft: Draft<Application>, context: Context): Promise<Result> {
      const app = draft.next
      if (app.metadata.deletionTimestamp) {
        known.delete(keyOf(app))
        return removeApplication(draft, ports, context)
      }
      await refresh(draft.seen, ports, context)
      if (takeRequests(app)) return {}
      const placed = placedApplication(app, ports)
      if (typeof placed === 'string') return showProblem(draft, 'InvalidSpecError', placed, context)
      const read = await compiled(app, placed, { ports, context, known })
      if ('problem' in read) {
        showProblem(draft, read.type, read.problem, context)
        return read.isUnwritten ? { requeueAfterMs: AGAIN_MS } : {}
      }
      return sync(draft, { ...read, placed, ports, context, turns })
    },
  }
}

/** Turns requests into fields: the finalizer, a request by annotation, and an operation that has started. */
function takeRequests(app: Application): boolean {
  const { metadata, operation, status } = app
  const { finalizers = [], annotations = {} } = metadata
  if (!finalizers.includes(REMOVAL_FINALIZER)) {
    metadata.finalizers = [...finalizers, REMOVAL_FINALIZER]
    return true
  }
  const { [SYNC]: asked, [REFRESH]: poll, [TERMINATE]: ended, ...rest } = annotations
  if (ended !== undefined) {
    const state = status?.operationState
    if (state?.phase === 'Running' && state.startedAt === ended) state.phase = 'Terminating'
    else if (state?.phase !== 'Terminating') delete metadata.annotations![TERMINATE]
    if (state?.phase !== 'Terminating' || metadata.annotations![TERMINATE] === undefined) return true
  }
  if (asked !== undefined || poll !== undefined) {
    metadata.annotations = ended === undefined ? rest : { ...rest, [TERMINATE]: ended }
    if (asked !== undefined && !operation) app.operation = { sync: {}, initiatedBy: { username: 'annotation' } }
    return true
  }
  if (noteOverrides(app)) return true
  if (
    operation &&
    status?.operationState?.phase === 'Running' &&
    jsonEqual(status.operationState.operation, operation)
  ) {
    delete app.operation
    return true
  }
  return false
}

/** Fetches the Sources at once after a refresh was asked for, or when a sync starts. */
async function refresh(app: Application, ports: ArgoPorts, { signal, clock }: Context): Promise<void> {
  const isStarting = app.operation !== undefined && app.status?.operationState?.phase !== 'Running'
  if (!isStarting && app.metadata.annotations?.[REFRESH] === undefined) return
  // A token for each operation: a token that changed in each pass would cause the next pass, and drop the fetch.
  const { operation, status, metadata } = app
  const token = isStarting
    ? `argo-${digestOfJson({ operation, uid: metadata.uid, before: status?.operationState?.startedAt }).slice(7, 39)}`
    : `argo-${clock.now()}`
  await pollSources(app, ports, token, signal)
}

/** Asks the hub to fetch the Sources of an owner now. */
async function pollSources(owner: Application, ports: ArgoPorts, token: string, signal: AbortSignal): Promise<void> {
  for (const { kind, object } of ports.madeFor(sourceOwnerOf(owner).metadata.uid ?? '')) {
    if (kind === Source && object.metadata.annotations?.[POLL] !== token)
      await ports.annotate(kind, object, { [POLL]: token }, signal)
  }
}

function placedApplication(app: Application, ports: ArgoPorts): Placed | string {
  const { metadata, spec } = app
  const { namespace = '' } = metadata
  const found = ports.destinations()(spec.destination ?? {})
  if ('problem' in found && !found.isLocal) return found.problem
  const cluster = 'cluster' in found ? found.cluster : undefined
  const name = spec.project ?? ''
  if (name === '') return 'spec.project is required; "default" is the project that allows everything'
  const project = projectSpec(name, ports.projectOf(namespace, name))
  if ('missing' in project) return project.missing
  const destination = {
    name: cluster ? argoNameOf(cluster) : LOCAL_NAME,
    server: cluster ? serverOf(cluster) : LOCAL_SERVER,
    spellings: cluster ? spellingsOf(cluster) : [{ name: LOCAL_NAME, server: LOCAL_SERVER }],
    namespace: spec.destination?.namespace ?? '',
  }
  const limits = { name, spec: project }
  const request = { destination, namespace, argoNamespace: ARGO_NAMESPACE }
  const refused = projectRefusal(limits, spec, request)
  // A source of the history may no longer be permitted.
  const refusedSource = refused ?? projectRefusal(limits, effectiveSpec(app), request)
  const unplaced = 'problem' in found ? found.problem : undefined
  return refused ?? { cluster, destination, project: limits, refusedSource, ...compact({ unplaced }) }
}

interface Compiling {
  readonly ports: ArgoPorts
  readonly context: Context
  readonly known: Map<string, Known>
}

interface Compiled {
  readonly compiled: CompiledApplications
  /** What the content has for the hub. */
  readonly nested: NestedContent | undefined
  readonly fetched: Fetched
  /** Settings of repository Secrets without an effect. */
  readonly notes: readonly string[]
}

/** Compiles and writes the objects; on a problem, what was delivered before stays. */
async function compiled(
  app: Application,
  placed: Placed,
  { ports, context, known }: Compiling,
): Promise<Compiled | { readonly type: string; readonly problem: string; readonly isUnwritten?: boolean }> {
  const { namespace = '', name } = app.metadata
  const { cluster, destination } = placed
  const takesApplications = !cluster || isLocalCluster(cluster)
  const overrides = activeOverrides(app)
  const operation = overrides && compact({ prune: overrides.prune, skipHooks: overrides.skipHooks })
  const effective = { metadata: app.metadata, spec: effectiveSpec(app) }
  const stepKey = rollingSetOf(app, ports) && specKey(app)
  const settings = ports.settings()
  const { health, ignore } = settings
  const clusters = cluster ? [cluster.metadata.name] : []
  const excluded = [
    ...(excludedFrom(settings, destination.server) ?? []),
    ...(takesApplications ? NESTED_SELECTORS : []),
  ]
  const rings = windowRings(placed.project.spec)
  const served = [
    {
      bundle: name,
      application: effective,
      clusters,
      takesApplications,
      settings: { health, ignore, ...compact({ exclude: excluded.length === 0 ? undefined : excluded }) },
      ...compact({ operation, stepKey, rings }),
    },
  ]
  const access = createAccess(namespace, app.spec.project ?? '', ports)
  const sourcesFor = (one: readonly ServedApplication[]): Desired[] =>
    compileServed(app, one, () => undefined, access.of).desired.filter(({ kind }) => kind === Source)
  // The Sources of the spec tell what is newest, also while a sync pinned others.
  const followed = overrides?.sources ? sourcesFor([{ bundle: name, application: app, clusters }]) : []
  const pinned = sourcesFor(served)
  const isNamed = new Set(pinned.map(({ object }) => object.metadata.name))
  const wanted = [...pinned, ...followed.filter(({ object }) => !isNamed.has(object.metadata.name))]
  const closed = await access.write(wanted, context)
  if (closed !== undefined) return { type: 'ComparisonError', problem: closed }
  const [taken] = await writeObjects(sourceOwnerOf(app), wanted, { ports, context })
  if (taken !== undefined) return { type: 'InvalidSpecError', problem: taken, isUnwritten: true }
  const fetched = await fetchedSources(
    namespace,
    wanted.map(({ object }) => object),
    ports,
  )
  const failed = [...fetched.missing.values()].find((message) => message !== '')
  if (failed !== undefined) return { type: 'ComparisonError', problem: `Failed to load target state: ${failed}` }
  if (fetched.missing.size > 0) return { type: '', problem: 'The repository is being fetched.' }
  const { labels, annotations, finalizers } = app.metadata
  const credentials = wanted.map(({ object }) => (object.spec as Source['spec']).credentials ?? null)
  const { artifacts } = fetched
  // The build environment has the commits.
  const revisions = [...fetched.revisions]
  const digest = digestOfJson({
    spec: effective.spec,
    operation: operation ?? null,
    settings: settings.digest,
    labels,
    annotations,
    finalizers,
    clusters,
    takesApplications,
    rings: rings ?? null,
    artifacts,
    revisions,
    credentials,
  })
  const before = known.get(keyOf(app))
  const made =
    before?.digest === digest
      ? before.compiled
      : await compileWith(fetched, () =>
          compileServed(app, served, (url, revision) => fetched.of(url, revision), access.of),
        )
  const one: Known = { digest, compiled: made, nested: before?.nested }
  known.set(keyOf(app), one)
  const [problem] = [...made.problems.values()].flat()
  if (problem !== undefined) return { type: 'InvalidSpecError', problem }
  const isSource = ({ kind }: { readonly kind: Kind }) => kind === Source
  const written = { ports, context }
  const [untaken] = await writeObjects(sourceOwnerOf(app), made.desired.filter(isSource), written)
  if (untaken !== undefined) return { type: 'InvalidSpecError', problem: untaken, isUnwritten: true }
  const nested = takesApplications ? await nestedOf(app, placed, one, written) : undefined
  if (nested && 'problem' in nested) return nested
  known.set(keyOf(app), { ...one, nested })
  const isDelivered = !nested || nested.hasOthers || (cluster !== undefined && !nested.hasNested)
  const desired = isDelivered ? made.desired : made.desired.filter(isSource)
  await stopBeforeMove(namespace, desired, written)
  const own = desired.filter((made) => !isSource(made))
  const [conflict] = await writeObjects(app, own, written)
  if (conflict !== undefined) return { type: 'InvalidSpecError', problem: conflict, isUnwritten: true }
  const kept = [...desired, ...followed]
  const names = new Set(kept.map(({ kind, object }) => `${kind.kind}/${object.metadata.name}`))
  await pruneObjects(app, (kind, one) => names.has(`${kind.kind}/${one}`), { ports, context })
  await releaseMove(namespace, desired, written)
  const { project } = placed
  const notes = [...access.notes(), ...(nested?.notes ?? []), ...projectNotes(project.name, project.spec)]
  return { compiled: { ...made, desired }, nested, fetched, notes }
}

/** What the content has for the hub, or why nothing can be delivered. */
async function nestedOf(
  app: Application,
  { cluster, unplaced, project }: Placed,
  { compiled, nested: before }: Known,
  { ports, context }: Pick<Compiling, 'ports' | 'context'>,
): Promise<RenderedNested | { readonly type: string; readonly problem: string }> {
  const found = await renderNested(app, compiled.desired.flatMap(bundleIn), {
    before,
    cluster: cluster && clusterInputsOf(cluster),
    project: allowsEverything(project.spec) ? ANY_PROJECT : (app.spec.project ?? ''),
    ports,
    signal: context.signal,
  })
  if ('problem' in found)
    return found.problem === ''
      ? { type: '', problem: 'The repository is being fetched.' }
      : { type: 'ComparisonError', problem: found.problem }
  return unplaced !== undefined && found.hasOthers ? { type: 'InvalidSpecError', problem: unplaced } : found
}

interface Syncing extends Compiled {
  readonly turns: ReturnType<typeof createTurns>
  readonly placed: Placed
  readonly ports: ArgoPorts
  readonly context: Context
}

async function sync(draft: Draft<Application>, syncing: Syncing): Promise<Result> {
  const app = draft.next
  const { compiled, fetched, placed, ports, context } = syncing
  const { namespace = '' } = app.metadata
  const now = context.clock.now()
  const wanted = compiled.desired.flatMap(bundleIn)
  const bundles = wanted.flatMap(({ metadata }) => ports.bundleOf(namespace, metadata.name) ?? [])
  const others = wanted.flatMap((one) => {
    const { metadata, spec } = one
    const source = ports.sourceOf(namespace, spec.source?.name ?? '')
    return otherContent(ports.bundleOf(namespace, metadata.name), one, source) ?? []
  })
  const other = others.find(({ isWaiting }) => isWaiting) ?? others[0]
  const cluster = placed.cluster?.metadata.name ?? ''
  const bundleRows = bundles.flatMap((bundle) => ports.rowOf(bundle, cluster) ?? [])
  const sets = await Promise.all(bundles.map((bundle) => targetSet(bundle, ports)))
  const objects = sets.flatMap((set) => set?.objects ?? [])
  const newest = revisionsOf(app.spec, fetched)
  const status: ApplicationStatus = (app.status ??= {})
  await terminateOperation(app, bundles, { ports, context })
  beginOperation(app, newest, now)
  const revisions = revisionsOf(effectiveSpec(app), fetched)
  const conditions = new Map<string, string>()
  const forHub = (syncing.nested?.wanted ?? []).map(({ kind, object }) => renderedObject(kind, object))
  const isNested = new Set(forHub.map(describeObject))
  const unused = settingNotes(ports.settings(), (selector) => objects.some((one) => selects(selector, one)))
  for (const message of [...(compiled.notes.get(app.metadata.name) ?? []), ...syncing.notes, ...unused]) {
    conditions.set('FieldWarning', [conditions.get('FieldWarning'), message].filter(Boolean).join('; '))
  }
  showBundles(bundles, isNested, conditions)
  for (const { message, reason, isWaiting } of others) {
    const type = isProjectReason(reason) ? 'InvalidSpecError' : 'SyncError'
    if (!isWaiting && !conditions.has('ComparisonError') && !conditions.has(type)) conditions.set(type, message)
  }
  const unplaced = placementProblem(namespace, compiled.desired, ports)
  if (unplaced) {
    const type = isProjectReason(unplaced.reason) ? 'InvalidSpecError' : 'SyncError'
    if (!conditions.has(type)) conditions.set(type, `Cluster ${cluster} is not selected: ${unplaced.message}`)
  }
  const refused = refusedObject(placed.project, [...objects, ...forHub], placed.destination) ?? placed.refusedSource
  if (refused !== undefined) conditions.set('InvalidSpecError', refused)
  for (const rollout of bundles.flatMap(({ metadata }) => ports.removalsOf(namespace, metadata.name))) {
    if (rollout.spec.paused && rollout.spec.removal?.cause === 'unplaced' && rollout.status?.phase !== 'Completed')
      conditions.set('OrphanedResourceWarning', leftBehind(rollout))
  }
  const offline = bundleRows.find(({ state }) => state === 'Offline')
  if (offline) conditions.set('ClusterOffline', offline.message)

  const { operationState } = status
  const isAsked = operationState?.phase === 'Running'
  const sources = compiled.desired.flatMap(({ kind, object }) =>
    kind === Source ? (ports.sourceOf(namespace, object.metadata.name) ?? []) : [],
  )
  const fetch = isAsked ? fetchProblem(sources) : {}
  const window = closedWindow(
    placed.project.spec,
    { name: app.metadata.name, destination: placed.destination },
    compact({
      atMs: now,
      isManual: isAsked,
      startedMs: isAsked ? parseTime(operationState.startedAt) : admittedMs(bundles, ports),
    }),
  )
  const isNewest = other === undefined && fetch.waits === undefined
  const mayStart =
    isNewest &&
    fetch.failed === undefined &&
    refused === undefined &&
    window === undefined &&
    !conditions.has('ComparisonError')
  const rolling = rollingSetOf(app, ports)
  const isByItself = rolling !== undefined || isAutomated(app.spec)
  const reason = isAsked ? `operation ${operationState.startedAt}` : isByItself ? 'automated' : undefined
  // A sync that a user asks for waits for no step.
  const turn = mayStart && rolling && !isAsked ? turnFor(app, rolling, bundles, syncing) : undefined
  const blocked = turn && !turn.isOpen ? turn.message : window
  const isUnfinished = await stopOutsideWindow(bundles, window, { ports, context })
  const started = mayStart && blocked === undefined ? reason : undefined
  if (started !== undefined) await startRollouts(bundles, started, { ports, context })
  const nested = await nestedState(app, { ...syncing, reason: started, newest })
  if (nested?.problem !== undefined) conditions.set('SyncError', nested.problem)
  const rows = nested ? [...bundleRows, nested.row] : bundleRows
  const written = nested ? [...bundleRows, nested.written] : bundleRows
  const isWaiting =
    reason !== undefined && blocked !== undefined && (turn !== undefined || worstRow(rows).sync !== 'Synced')
  if (isWaiting) conditions.set('SyncBlocked', `${blocked}.`)
  if (isAsked) {
    const waits = fetch.waits ?? (other?.isWaiting ? other.message : undefined)
    const problem = fetch.failed ?? (isNewest ? refused : undefined) ?? conditions.get('ComparisonError')
    endOperation(app, {
      rows: written,
      revisions,
      newest,
      waits,
      problem,
      stays: other?.message ?? unplaced?.message,
      now,
    })
  } else if (isNewest && isByItself) noteAutomated(app, { rows: written, revisions, now })
  const isCurrent = other === undefined && activeOverrides(app)?.sources === undefined
  show(app, { rows, revisions: newest, isNewest: isCurrent, conditions, now })
  const listed = listResources(await contentsOf(bundles, sets, cluster, ports), {
    reported: ports.reportOf(cluster)?.spec.bundles ?? [],
    isOffline: offline !== undefined,
  })
  status.resources = [...(nested?.resources ?? []), ...listed].slice(0, MAX_RESOURCES)
  const hasWindows = (placed.project.spec.syncWindows ?? []).length > 0
  return isWaiting || (hasWindows && isUnfinished) ? { requeueAfterMs: AGAIN_MS } : {}
}

/** Conditions of the Application that its Bundles have the reasons of. */
function showBundles(bundles: readonly Bundle[], isNested: ReadonlySet<string>, conditions: Map<string, string>): void {
  for (const bundle of bundles) {
    const rendered = bundle.status?.conditions?.find(({ type }) => type === 'Rendered')
    if (rendered?.status === 'False')
      conditions.set('ComparisonError', `Failed to generate manifests: ${rendered.message}`)
    const { held } = bundle.status ?? {}
    const excluded = (bundle.status?.excluded ?? []).filter((one) => !isNested.has(one))
    if (excluded.length > 0) {
      const message = `${nameSome(excluded)}: excluded by resource.exclusions of ConfigMap argocd-cm.`
      conditions.set('ExcludedResourceWarning', message)
    }
    if (held)
      conditions.set(
        'SyncError',
        `${held.message ?? 'The guard stopped a change.'} Let it through with: flotilla guard release bundle ${bundle.metadata.name} -n ${bundle.metadata.namespace ?? ''}`,
      )
  }
}

/** Writes the objects of the hub in the content; undefined when there are none. */
async function nestedState(
  app: Application,
  {
    nested,
    reason,
    newest,
    ports,
    context,
  }: Pick<Syncing, 'nested' | 'ports' | 'context'> & {
    readonly reason: string | undefined
    readonly newest: Revisions
  },
): Promise<NestedDecision | undefined> {
  if (!nested) return undefined
  const decision = await syncNested(app, nested, {
    reason,
    isDeployed: isDeployed(app, newest),
    prunes: activeOverrides(app)?.prune === true,
    ports,
    context,
  })
  return nested.hasNested || decision.resources.length > 0 ? decision : undefined
}

function renderedObject({ group, version, kind }: Kind, { metadata }: KubeObject): ObjectId {
  return { apiVersion: `${group}/${version}`, kind, name: metadata.name, namespace: metadata.namespace ?? '' }
}

/** The turn of an Application whose newest content has not started; undefined when nothing waits for its start. */
function turnFor(
  app: Application,
  rolling: RollingSet,
  bundles: readonly Bundle[],
  { ports, turns }: Pick<Syncing, 'ports' | 'turns'>,
): Turn | undefined {
  const rollouts = bundles.flatMap((bundle) => ports.rolloutOf(bundle) ?? [])
  const waiting = rollouts.find(({ spec, metadata }) => spec.paused && metadata.annotations?.[STARTED] === undefined)
  return waiting && turns(app, rolling, waiting.metadata.name)
}

function bundleIn({ kind, object }: Desired): Bundle[] {
  return kind === Bundle ? [object as unknown as Bundle] : []
}

/** As in Argo CD, objects stay where an Application was before. */
function leftBehind({ metadata, spec }: Rollout): string {
  const clusters = spec.removal?.clusters.join(', ') ?? ''
  const what = spec.removal?.policy === 'Orphan' ? 'To give them up' : 'To remove them'
  return `The objects of the former destination stay on ${clusters}. ${what}: flotilla rollout start ${metadata.name} -n ${metadata.namespace ?? ''}`
}

async function contentsOf(
  bundles: readonly Bundle[],
  sets: readonly (ObjectSet | undefined)[],
  cluster: string,
  ports: ArgoPorts,
): Promise<BundleContents[]> {
  return await Promise.all(
    bundles.map(async (bundle, at) => {
      const newestSet = bundle.status?.revision?.set
      const assignedSet = ports.assignedSet(bundle, cluster)
      const isSame = assignedSet === undefined || assignedSet === newestSet || !isDigest(assignedSet)
      const newest = sets[at]
      const assigned = !isSame ? await ports.setOf(assignedSet) : assignedSet === undefined ? undefined : newest
      return { bundle: keyOf(bundle), newest, newestSet, assigned, assignedSet }
    }),
  )
}

async function targetSet(bundle: Bundle, ports: ArgoPorts): Promise<ObjectSet | undefined> {
  const digest = bundle.status?.revision?.set
  return digest === undefined ? undefined : ports.setOf(digest)
}

function revisionsOf(spec: Application['spec'], { revisionOf }: Fetched): Revisions {
  const [first, ...others] = sourceList(spec).map(revisionOf)
  if (!spec.sources || spec.sources.length === 0) return compact({ revision: first })
  return { revisions: [first, ...others].map((one) => one ?? '') }
}
