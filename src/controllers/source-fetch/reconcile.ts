// Tested by src/controllers/source-fetch/controller.sim.test.ts
import { compact } from '../../core/compact.ts'
import { canonicalJson } from '../../core/json.ts'
import { digestOf } from '../../core/crypto/digest.ts'
import { plural } from '../../core/text/name-some.ts'
import { backoffMs } from '../../core/time/backoff.ts'
import { formatTime } from '../../core/time/time.ts'
import type { Context, Draft, Reconciler, Result } from '../../engine/reconciler.ts'
import { keyOf } from '../../kinds/meta.ts'
import type { Source } from '../../kinds/native/source.ts'
import type { Secret } from '../../kinds/builtin/core.ts'
import { readCredentials, withCertificates } from '../../source/credentials.ts'
import type { Credentials } from '../../source/credentials.ts'
import { FETCH_STOPPED, identityOf, selectionOf } from '../../source/fetch-request.ts'
import type { FetchFailure, FetchOutcome, FetchRequest } from '../../source/fetch-request.ts'
import { pollIntervalMs } from '../../source/poll-interval.ts'
import { SourceError } from '../../source/source-error.ts'
import { readKeyring, readProxy } from '../../source/source-secrets.ts'
import { isProjectReason } from '../../plan/projects/project-of.ts'
import { refuse } from '../caches/namespace-projects.ts'
import type { SourceFetchPorts } from './ports.ts'

/** The annotation that requests a fetch now; a new value is enough. */
export const POLL_ANNOTATION = 'flotilla.dev/poll'

const JITTER = 0.2
const MAX_BACKOFF_MS = 600_000
/** Each try of a Source whose fetch had to be stopped may use a processor until its time limit, so tries are rare. */
const STOPPED_BACKOFF = { baseMs: 300_000, maxMs: 3_600_000, jitter: JITTER }
/** After a restart, Sources with an artifact are fetched within this time, not all at once. */
const SPREAD_MS = 10_000

/** Fetches a Source in intervals and records its artifact. */
export function sourceFetchReconciler(ports: SourceFetchPorts): Reconciler<Source> {
  const refused = new Map<string, { readonly wanted: string; readonly failure: FetchFailure }>()
  return {
    name: 'source-fetch',
    async reconcile(draft: Draft<Source>, context: Context): Promise<Result> {
      const { jobs } = ports
      const source = draft.next
      const key = keyOf(source)
      if (source.metadata.deletionTimestamp) {
        jobs.forget(key)
        refused.delete(key)
        return {}
      }
      const refusal = ports.refusalOf(source)
      if (refusal) jobs.forget(key)
      refuse(refusal, 'The Source is not fetched; Bundles keep using the last artifact.')
      const hint = source.metadata.annotations?.[POLL_ANNOTATION]
      const wanted = wantedOf(source, hint)
      // The engine removes Stalled after a pass that does not set it, and most passes only wait.
      const stalled = draft.conditions.get('Stalled')
      const wasRefused = isProjectReason(stalled?.reason)
      if (stalled && !wasRefused) draft.conditions.set('Stalled', 'True', stalled.reason, stalled.message)
      const done = jobs.take(key)
      // An interrupted fetch has no result: it is started again below, alone.
      if (done && done.outcome.kind !== 'Interrupted' && done.wanted === wanted && !source.spec.suspend) {
        const { outcome } = done
        settle(draft, { outcome, ms: done.ms }, context)
        if (hint !== undefined) source.status!.hint = hint.slice(0, 128)
        if (outcome.kind === 'Failed' && outcome.commit)
          refused.set(key, { wanted: contentOf(source), failure: outcome })
        const waitMs = nextPollMs(source, outcome, { failures: jobs.failures(key), fraction: context.ids.fraction() })
        jobs.schedule(key, wanted, waitMs)
        return { requeueAfterMs: waitMs }
      }
      if (source.spec.suspend) {
        showSuspended(draft)
        return {}
      }
      if (jobs.isRunning(key)) return {}
      const last = jobs.lastWanted(key)
      // The first pass after a start: a Source that was fetched before the restart need not be fetched at once.
      if (last === undefined && isServed(source, hint) && !done && !wasRefused) {
        const waitMs = firstPollMs(source, context.ids.fraction())
        if (waitMs > 0) {
          jobs.schedule(key, wanted, waitMs)
          return { requeueAfterMs: waitMs }
        }
      }
      const dueInMs = last === wanted || last === undefined ? jobs.dueInMs(key) : 0
      if (dueInMs > 0) return { requeueAfterMs: dueInMs }
      const known = refused.get(key)
      const isHinted = hint !== undefined && hint !== source.status?.hint
      const isAlone = isStopped(source) || jobs.isSuspect(key)
      const request = compact({
        isHinted,
        isAlone: isAlone || undefined,
        refused: known?.wanted === contentOf(source) ? known.failure : undefined,
      })
      jobs.begin({
        key,
        wanted,
        host: hostOf(source),
        tenant: ports.tenantOf(source.metadata.namespace ?? ''),
        isAlone,
        work: (signal) => fetchOne(source, request, ports, signal),
      })
      if (!source.status?.artifact && !draft.conditions.get('Ready')) {
        draft.conditions.set('Ready', 'Unknown', 'Fetching', 'The first fetch is on its way.')
      }
      return {}
    },
  }
}

/** Identifies a request: an edit or a hint makes a new one. */
function wantedOf(source: Source, hint: string | undefined): string {
  return digestOf(canonicalJson({ spec: source.spec, hint }))
}

/** Identifies content: as long as it is the same, refused content is refused again. */
function contentOf({ spec }: Source): string {
  return `${identityOf(spec)} ${selectionOf(spec)}`
}

/** Whether the status is about the present spec and hint. */
function isServed(source: Source, hint: string | undefined): boolean {
  const { observedGeneration, hint: served } = source.status ?? {}
  return observedGeneration === source.metadata.generation && served === hint
}

/**
 * Whether the last fetch had to be stopped. The status records it, so that a hub that starts again fetches the Source
 * alone.
 */
function isStopped({ status }: Source): boolean {
  return status?.conditions?.some(({ type, reason }) => type === 'Ready' && reason === FETCH_STOPPED) ?? false
}

/**
 * The delay of the first fetch after a start of the hub. A Source without an artifact does not wait, unless its fetch
 * was stopped.
 */
function firstPollMs(source: Source, fraction: number): number {
  if (isStopped(source)) return backoffMs(0, fraction, STOPPED_BACKOFF)
  if (source.status?.artifact === undefined) return 0
  return Math.round(Math.min(SPREAD_MS, pollIntervalMs(source.spec)) * fraction)
}

function hostOf({ spec }: Source): string {
  const url = spec.git?.url ?? spec.helm?.url ?? spec.oci?.url ?? spec.s3?.url ?? ''
  return /^(?:[a-z+]+:\/\/)?(?:[^@/]*@)?([^/:]*)/i.exec(url)?.[1] ?? ''
}

async function fetchOne(
  source: Source,
  about: Pick<FetchRequest, 'isHinted' | 'refused' | 'isAlone'>,
  ports: SourceFetchPorts,
  signal: AbortSignal,
): Promise<FetchOutcome> {
  const { spec, metadata, status } = source
  try {
    const mirrors = await ports.mirrors(signal)
    const secretOf = async (field: string, name: string | undefined): Promise<Secret | undefined> => {
      const secret = name && (await ports.secret(metadata.namespace ?? '', name, signal))
      if (!name || secret) return secret || undefined
      throw new SourceError('SecretNotFound', `spec.${field} names Secret ${name}, which does not exist.`, {
        retry: true,
      })
    }
    const secret = await secretOf('credentials', spec.credentials)
    const certificates = await secretOf('certificates', spec.certificates)
    const keys = await secretOf('git.verify.keys', spec.git?.verify?.keys)
    const proxy = await secretOf('proxy', spec.proxy)
    return await ports.fetch(
      {
        spec,
        mirrors,
        ...about,
        ...compact({
          previous: status?.artifact ? status.artifact : undefined,
          keyring: keys && readKeyring(keys),
          proxy: proxy && readProxy(proxy),
          credentials: withCertificates(
            secret && (await credentialsOf(secret, ports, signal)),
            certificates && readCredentials(certificates),
          ),
        }),
      },
      signal,
    )
  } catch (caught) {
    if (!(caught instanceof SourceError)) throw caught
    return { kind: 'Failed', reason: caught.reason, message: caught.message, retry: caught.retry }
  }
}

/** The credentials in a Secret; for ssh with the hub's known hosts, if the Secret has none. */
async function credentialsOf(secret: Secret, ports: SourceFetchPorts, signal: AbortSignal): Promise<Credentials> {
  const credentials = readCredentials(secret)
  if (credentials.sshKey === undefined || credentials.knownHosts !== undefined) return credentials
  const knownHosts = await ports.knownHosts(signal)
  return knownHosts === undefined ? credentials : { ...credentials, knownHosts }
}

/** The result of a fetch that was not interrupted. */
type Settled = Exclude<FetchOutcome, { readonly kind: 'Interrupted' }>

function settle(
  draft: Draft<Source>,
  fetched: { readonly outcome: Settled; readonly ms: number },
  context: Context,
): void {
  const { outcome, ms } = fetched
  const { conditions, next: source } = draft
  const status = (source.status ??= {})
  conditions.remove('Stalled')
  if (outcome.kind !== 'Held') {
    delete status.held
    conditions.remove('Held')
  }
  switch (outcome.kind) {
    case 'New':
      status.artifact = {
        ...outcome.artifact,
        fetchMs: ms,
        fetchedAt: formatTime(context.clock.now()),
        identity: identityOf(source.spec),
        selection: selectionOf(source.spec),
      }
      context.log.info({ revision: outcome.artifact.revision }, 'artifact stored')
      showFetched(draft)
      return
    case 'Same':
      showFetched(draft)
      return
    case 'Held': {
      const accept = outcome.revision.replace(/^.*@(?:sha1:)?/, '').replace(/^sha1:/, '')
      const since = status.held?.revision === outcome.revision ? status.held.since : formatTime(context.clock.now())
      status.held = { revision: outcome.revision, accept, since }
      const release = `To take it: flotilla source accept ${source.metadata.name}, or set spec.accept to ${accept}`
      const message = `${outcome.message}. ${goOn(source)} ${release}.`
      conditions.set('Held', 'True', outcome.reason, message)
      conditions.set('Ready', 'False', outcome.reason, message)
      return
    }
    case 'Failed': {
      const message = `${outcome.message} ${goOn(source)}`
      conditions.set('Ready', 'False', outcome.reason, message)
      if (outcome.reason === FETCH_STOPPED) context.log.warn({ reason: outcome.reason }, outcome.message)
      if (!outcome.retry) conditions.set('Stalled', 'True', outcome.reason, message)
    }
  }
}

function goOn({ status }: Source): string {
  return status?.artifact ? `Bundles go on with ${status.artifact.revision}.` : 'There is no artifact yet.'
}

function showFetched({ conditions, next }: Draft<Source>): void {
  const { revision, files } = next.status!.artifact!
  conditions.set('Ready', 'True', 'Fetched', `${revision} is stored: ${plural(files, 'file')}.`)
}

function showSuspended(draft: Draft<Source>): void {
  const message = `spec.suspend is true, so the Source is not fetched. ${goOn(draft.next)}`
  draft.conditions.set('Ready', draft.next.status?.artifact ? 'True' : 'False', 'Suspended', message)
  draft.conditions.remove('Stalled')
}

function nextPollMs(
  { spec }: Source,
  outcome: FetchOutcome,
  { failures, fraction }: { readonly failures: number; readonly fraction: number },
): number {
  const intervalMs = pollIntervalMs(spec)
  if (outcome.kind === 'Failed' && outcome.reason === FETCH_STOPPED) {
    return Math.max(intervalMs, backoffMs(failures - 1, fraction, STOPPED_BACKOFF))
  }
  if (outcome.kind === 'Failed' && outcome.retry) {
    const options = {
      baseMs: Math.min(intervalMs, 15_000),
      maxMs: Math.max(MAX_BACKOFF_MS, intervalMs),
      jitter: JITTER,
    }
    return backoffMs(failures - 1, fraction, options)
  }
  return Math.round(intervalMs * (1 - JITTER / 2 + JITTER * fraction))
}
