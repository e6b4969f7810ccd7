/** What a requested sync changes of an Application: another revision or source, options, hooks, pruning. */
import { compact } from '../../../../core/compact.ts'
import { isObject, jsonEqual } from '../../../../core/json.ts'
import { isAutomated } from '../../application.ts'
import type { ApplicationSpec, ArgoSource } from '../../application.ts'
import { SYNCED_WITH } from '../../annotations.ts'
import type { Application, Operation } from '../../kinds.ts'
import type { Revisions } from '../application-status.ts'

type Sync = NonNullable<Operation['sync']>

/** What a requested sync changes of the spec. */
export interface SyncOverrides {
  readonly sources?: readonly ArgoSource[]
  readonly syncOptions?: readonly string[]
  readonly prune?: boolean
  readonly skipHooks?: boolean
  readonly retries?: number
}

/** The sources of a spec or an operation as a list. */
export function sourceList({
  source,
  sources = [],
}: {
  readonly source?: ArgoSource
  readonly sources?: readonly ArgoSource[]
}): readonly ArgoSource[] {
  return sources.length > 0 ? sources : source ? [source] : []
}

function revisionList({ revision = '', revisions = [] }: Sync | Revisions): readonly string[] {
  return revisions.length > 0 ? revisions : [revision]
}

/** The changes of a requested sync; undefined when it is a sync of the spec as it is. */
export function overridesOf(
  { sync = {}, retry }: Operation,
  spec: ApplicationSpec,
  newest: Revisions,
): SyncOverrides | undefined {
  const own = sourceList(spec)
  const given = sourceList(sync)
  const [asked, current] = [revisionList(sync), revisionList(newest)]
  const sources = (given.length > 0 ? given : own).map((source, at) => {
    const revision = asked[at] ?? ''
    // A revision that the Application follows anyway is not pinned.
    const isFollowed = revision === source.targetRevision || (given.length === 0 && revision === current[at])
    return revision === '' || isFollowed ? source : { ...source, targetRevision: pinned(revision) }
  })
  const { apply, hook } = sync.syncStrategy ?? {}
  const options = sync.syncOptions ?? spec.syncPolicy?.syncOptions ?? []
  const isForced = apply?.force || hook?.force
  const syncOptions = isForced ? [...options, 'Force=true'] : [...options]
  const found: SyncOverrides = compact({
    sources: jsonEqual(sources, own) ? undefined : sources,
    syncOptions: jsonEqual(syncOptions, spec.syncPolicy?.syncOptions ?? []) ? undefined : syncOptions,
    prune: sync.prune ? true : undefined,
    skipHooks: apply && !hook ? true : undefined,
    retries: retry?.limit,
  })
  return Object.keys(found).length === 0 ? undefined : found
}

/** Revisions of registries are `TAG@DIGEST`. */
function pinned(revision: string): string {
  const at = revision.indexOf('@sha256:')
  return at < 0 ? revision : revision.slice(at + 1)
}

/** The changes that count now: those of an automated Application end with the operation. */
export function activeOverrides(app: Application): SyncOverrides | undefined {
  const isInProgress = app.operation !== undefined || isRunning(app)
  return isInProgress || !isAutomated(app.spec) ? readOverrides(app) : undefined
}

/** Whether an operation is in progress. */
export function isRunning({ status }: Application): boolean {
  return ['Running', 'Terminating'].includes(status?.operationState?.phase ?? '')
}

/** The annotation, which every user who may write Applications can write, too. */
function readOverrides({ metadata, spec, status }: Application): SyncOverrides | undefined {
  const text = metadata.annotations?.[SYNCED_WITH]
  const value = text === undefined || text.length > MAX_TEXT ? undefined : parsed(text)
  if (!isObject(value)) return undefined
  const { sources, syncOptions = [], prune = false, skipHooks = false, retries = 0 } = value
  const isRight =
    Array.isArray(syncOptions) &&
    syncOptions.every((one) => typeof one === 'string') &&
    typeof prune === 'boolean' &&
    typeof skipHooks === 'boolean' &&
    Number.isInteger(retries) &&
    (sources === undefined || (Array.isArray(sources) && sources.every(isObject)))
  if (!isRight) return undefined
  const overrides = value as SyncOverrides
  const known = [sourceList(spec), ...(status?.history ?? []).map(sourceList)].map(withoutRevisions)
  const isKnown =
    overrides.sources === undefined || known.some((one) => jsonEqual(one, withoutRevisions(overrides.sources!)))
  return isKnown ? overrides : undefined
}

const MAX_TEXT = 65_536

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function withoutRevisions(sources: readonly ArgoSource[]): unknown[] {
  return sources.map(({ targetRevision: _revision, ...rest }) => rest)
}

/** Notes the changes of a requested sync before it begins; returns whether the annotation is another one now. */
export function noteOverrides(app: Application): boolean {
  const { operation, metadata, spec, status } = app
  if (!operation || isRunning(app)) return false
  const shown: Revisions = compact({ revision: status?.sync?.revision, revisions: status?.sync?.revisions })
  if (operationProblem(operation, shown, app) !== undefined) return false
  const overrides = overridesOf(operation, spec, shown)
  const wanted = overrides && JSON.stringify(overrides)
  if (metadata.annotations?.[SYNCED_WITH] === wanted) return false
  const { [SYNCED_WITH]: _before, ...rest } = metadata.annotations ?? {}
  metadata.annotations = wanted === undefined ? rest : { ...rest, [SYNCED_WITH]: wanted }
  return true
}

/** The spec that is delivered. */
export function effectiveSpec(app: Application): Application['spec'] {
  const overrides = activeOverrides(app)
  if (!overrides) return app.spec
  const { sources: pinnedSources, syncOptions, retries } = overrides
  const { source, sources, syncPolicy, ...rest } = app.spec
  const isMany = (sources?.length ?? 0) > 0 || (pinnedSources?.length ?? 0) > 1
  return compact({
    ...rest,
    source: pinnedSources ? (isMany ? undefined : pinnedSources[0]) : source,
    sources: pinnedSources ? (isMany ? pinnedSources : undefined) : sources,
    syncPolicy: compact({
      ...syncPolicy,
      syncOptions: syncOptions ?? syncPolicy?.syncOptions,
      retry: retries === undefined ? syncPolicy?.retry : { limit: retries },
    }),
  })
}

/** Why a requested sync cannot be done; undefined when it can. */
export function operationProblem({ sync }: Operation, newest: Revisions, app: Application): string | undefined {
  const { spec, status } = app
  if (!sync) return 'operation.sync is missing: only syncs can be requested'
  if (sync.dryRun)
    return 'operation.sync.dryRun is not supported; use "flotilla argo diff" to see what a sync would change'
  if ((sync.resources ?? []).length > 0)
    return 'operation.sync.resources is not supported: a sync applies all objects of the Application'
  if ((sync.manifests ?? []).length > 0)
    return 'operation.sync.manifests is not supported: content comes from the repository'
  const given = sourceList(sync)
  const own = sourceList(spec)
  const known = [own, ...(status?.history ?? []).map(sourceList)]
  if (given.length > 0 && !known.some((one) => jsonEqual(one, given)))
    return 'operation.sync.source is neither the source of the Application nor one of its history'
  const asked = revisionList(sync).filter((one) => one !== '')
  if (asked.length > own.length && given.length === 0)
    return `operation.sync.revisions has ${asked.length} revisions, and the Application has ${own.length} sources`
  const overrides = overridesOf({ sync }, spec, newest)
  if (!overrides?.sources || !isAutomated(spec)) return undefined
  const following = own.map((one) => one.targetRevision || 'HEAD').join(', ')
  return `Cannot sync to ${asked.join(', ')}: auto-sync currently set to ${following}`
}
