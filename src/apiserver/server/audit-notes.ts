/**
 * Audit records of requests that commit no change: tokens that are issued, reads of Secrets, reads in the name of
 * another user, sign-ins, and requests that are denied. Changes have their record in the transaction of the change.
 */
import { hex, sha256 } from '../../core/bytes.ts'
import { compact } from '../../core/compact.ts'
import { toError } from '../../core/errors.ts'
import type { Caller, Handler, HttpRequest, HttpResponse } from '../../core/http.ts'
import type { Logger } from '../../core/log.ts'
import type { Clock } from '../../core/time/clock.ts'
import { formatMicroTime } from '../../core/time/time.ts'
import type { Store } from '../../store/store.ts'
import type { RequestInfo } from '../http/request-info.ts'
import { respondError } from '../http/respond.ts'
import { CONTROLLERS_USER } from '../rbac/controller-rules.ts'
import { toApiError } from './to-api-error.ts'

/** Longest user agent in a record: a command puts the reason of a change beside its name. */
export const MAX_USER_AGENT = 1024
/** Longest part of a path in a record. Valid names are shorter; the path of a denied request can have any length. */
const MAX_PART = 256

/** The hub's own parts read Secrets all the time; a record of each would hide the reads of people. */
const OWN_PARTS: ReadonlySet<string> = new Set([CONTROLLERS_USER, 'system:flotilla:gateway'])

/** Denied requests are recorded at this rate, so that a flood of them cannot fill the disk. */
const DENIALS_PER_MINUTE = 60
const DENIALS_BURST = 120

/** A user that comes again from the same address within this time has no further record of a sign-in. */
const SIGN_IN_MS = 3_600_000
const MAX_SIGN_INS = 10_000

/** What is known of a request, more with each step of its way. */
export interface KnownRequest {
  readonly request: HttpRequest
  /** The caller as far as it is proven, then the user that it acts as. */
  caller: Caller
  /** Absent before the path is read. */
  info?: RequestInfo
  /** True when a commit of the request has its record in the audit chain. */
  isRecorded?: boolean
}

interface AnsweredRequest extends Readonly<KnownRequest> {
  readonly auditId: string
  readonly status: number
}

/** Answers a request, and completes what is known of it. Never rejects. */
export type AnswerRequest = (known: KnownRequest, signal: AbortSignal, auditId: string) => Promise<HttpResponse>

export interface AuditNotesOptions {
  readonly store: Pick<Store, 'note'>
  readonly clock: Clock
  readonly log: Logger
}

/**
 * A handler whose answers have the header Audit-Id, and whose requests have their record before the answer. A token, or
 * the content of a Secret, is answered with an error instead when its record cannot be written.
 */
export function auditedHandler(answer: AnswerRequest, options: AuditNotesOptions): Handler {
  const nextId = idsSince(options.clock)
  const note = createNotes(options)
  return async (request, caller, signal) => {
    const auditId = nextId()
    const known: KnownRequest = { request, caller }
    let answered = await answer(known, signal, auditId)
    try {
      await note({ ...known, auditId, status: answered.status })
    } catch (caught) {
      answered = respondError(toApiError(caught, request, options.log))
    }
    return { ...answered, headers: { ...answered.headers, 'audit-id': auditId } }
  }
}

/**
 * The store for a request, with a note on what is known of the request when a commit has a record. The answer of a
 * change that commits nothing, like one with dryRun=All, has the contents of the object, and thus is a read.
 */
export function noteCommits(store: Store, known: KnownRequest): Store {
  const commit: Store['commit'] = async (write) => {
    const result = await store.commit(write)
    if (result.ok && write.audit !== undefined) known.isRecorded = true
    return result
  }
  return { ...store, commit }
}

/** Ids in the form of UUIDs, unique for the hub: the time of the start, as a digest, and a count. */
function idsSince(clock: Clock): () => string {
  const digest = hex(sha256(formatMicroTime(clock.now())))
  const start = [0, 8, 12, 16].map((from, at) => digest.slice(from, [8, 12, 16, 20][at])).join('-')
  let count = 0
  return () => {
    count += 1
    return `${start}-${count.toString(16).padStart(12, '0')}`
  }
}

/**
 * Records a request if it needs a record. Resolves when the record of a token or of a read is on disk; the record of a
 * denied request is not waited for.
 */
function createNotes({ store, clock, log }: AuditNotesOptions): (answered: AnsweredRequest) => Promise<void> {
  const signIns = new Map<string, number>()
  let suppressed = 0
  let denials = { taken: 0, at: clock.monotonicMs() }

  function mayRecordDenial(): boolean {
    const now = clock.monotonicMs()
    const left = Math.max(0, denials.taken - ((now - denials.at) / 60_000) * DENIALS_PER_MINUTE)
    const isFree = left + 1 <= DENIALS_BURST
    denials = { taken: isFree ? left + 1 : left, at: now }
    return isFree
  }

  /**
   * The key of a sign-in that needs a record. `flotilla login` and the console ask who the caller is; other commands
   * ask it, too, and often.
   */
  function newSignIn({ caller, info, status }: AnsweredRequest): string | undefined {
    if (status >= 300 || info?.resource?.plural !== 'selfsubjectreviews') return undefined
    const who = JSON.stringify([caller.user, caller.impersonator, caller.address])
    const before = signIns.get(who)
    return before !== undefined && clock.monotonicMs() - before < SIGN_IN_MS ? undefined : who
  }

  function rememberSignIn(who: string): void {
    signIns.delete(who)
    signIns.set(who, clock.monotonicMs())
    const [oldest] = signIns.keys()
    if (signIns.size > MAX_SIGN_INS) signIns.delete(oldest!)
  }

  return async (answered) => {
    if (!store.note) return
    const line = (more: object) => JSON.stringify({ ...describe(answered, formatMicroTime(clock.now())), ...more })
    const isDenied = answered.status === 401 || answered.status === 403
    if (!isDenied) {
      if (!mayHaveContents(answered)) return
      const signIn = newSignIn(answered)
      if (signIn !== undefined || needsRecord(answered)) await store.note(line({}))
      // After its record: when the write fails, the next try must have one.
      if (signIn !== undefined) rememberSignIn(signIn)
      return
    }
    if (!mayRecordDenial()) {
      suppressed += 1
      return
    }
    const more = compact({ denied: true, suppressed: suppressed || undefined })
    suppressed = 0
    store.note(line(more)).catch((caught: unknown) => {
      log.error({ err: toError(caught) }, 'the audit record of a denied request could not be written')
    })
  }
}

/** Whether the answer can have contents of objects: the refusal of a change quotes the values that are not valid. */
function mayHaveContents({ info, status }: AnsweredRequest): boolean {
  if (status < 300) return true
  const verb = info?.resource?.verb
  return (verb === 'update' || verb === 'patch') && status !== 404
}

/** Whether a request that was not denied has a record beside the records of its commits. */
function needsRecord({ caller, info, isRecorded }: AnsweredRequest): boolean {
  const { resource } = info ?? {}
  if (!resource) return false
  const { group, plural, subresource, verb } = resource
  if (group === '' && plural === 'serviceaccounts' && subresource === 'token') return true
  // A deletion of many answers all objects, also objects that were being deleted already and have no commit.
  if (isRecorded && verb !== 'deletecollection') return false
  const isSecret = group === '' && plural === 'secrets'
  // A creation without a commit answers what the caller sent.
  if (caller.impersonator !== undefined) return isSecret || verb !== 'create'
  return isSecret && !OWN_PARTS.has(caller.user)
}

function describe({ auditId, request, caller, info, status }: AnsweredRequest, time: string): object {
  const { resource } = info ?? {}
  const cut = (part: string | undefined) => part?.slice(0, MAX_PART)
  const below = resource?.subresource === undefined ? '' : `/${cut(resource.subresource)}`
  return compact({
    time,
    auditId,
    user: caller.user,
    groups: caller.groups,
    impersonator: caller.impersonator,
    address: caller.address,
    verb: resource?.verb ?? request.method.toLowerCase().slice(0, 16),
    ...(resource
      ? {
          group: cut(resource.group),
          resource: `${cut(resource.plural)}${below}`,
          namespace: cut(resource.namespace),
          name: cut(resource.name),
        }
      : { path: cut(request.path.replace(/\?.*/s, '')) }),
    code: status,
    userAgent: request.headers['user-agent']?.slice(0, MAX_USER_AGENT),
  })
}
