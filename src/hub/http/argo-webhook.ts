// Tested by src/hub/http/argo-webhook.contract.test.ts
/**
 * The door for webhooks of Argo CD, `/api/webhook`: a genuine call asks for a fetch of the repositories that it names,
 * where Applications and ApplicationSets use them.
 */
import type { IncomingMessage } from 'node:http'
import type { Client } from '../../client/client.ts'
import { POLL_ANNOTATION } from '../../controllers/source-fetch/reconcile.ts'
import { concatBytes, fromBase64, fromUtf8 } from '../../core/bytes.ts'
import { isApiError, toError } from '../../core/errors.ts'
import type { Logger } from '../../core/log.ts'
import type { Clock } from '../../core/time/clock.ts'
import { formatTime } from '../../core/time/time.ts'
import { REFRESH_SET } from '../../dialects/argo/annotations.ts'
import { ApplicationSet, ARGO_NAMESPACE } from '../../dialects/argo/kinds.ts'
import { concernsSet, concernsSource, readEvent, webhookSender } from '../../dialects/argo/webhook/repository-event.ts'
import type { RepositoryEvent } from '../../dialects/argo/webhook/repository-event.ts'
import { Secret } from '../../kinds/builtin/core.ts'
import { Source } from '../../kinds/native/source.ts'
import { checkWebhook } from '../../source/verify-webhook.ts'

/** What it needs. */
export interface ArgoWebhookOptions {
  readonly client: Pick<Client, 'get' | 'list' | 'patch'>
  readonly clock: Clock
  readonly log: Logger
}

/** The path of Argo CD's API server. */
const PATH = '/api/webhook'
/** The Secret of Argo CD with the secrets of webhooks. */
const SECRET = { namespace: ARGO_NAMESPACE, name: 'argocd-secret' }
/** The body is kept until its signature is checked. */
const MAX_BODY = 4 * 1024 * 1024
const MAX_AT_ONCE = 4
/** A ref of a repository is looked for at most once in this time. */
const EVERY_MS = 2000
const MAX_REMEMBERED = 10_000
const MANAGER = { fieldManager: 'flotilla-webhook' }

type Headers = Readonly<Record<string, string | undefined>>

/** Answers calls with a status. */
export function createArgoWebhook({ client, clock, log }: ArgoWebhookOptions) {
  const seen = new Map<string, number>()
  let running = 0

  async function statusOf(request: IncomingMessage, headers: Headers): Promise<number> {
    if (request.method !== 'POST') return 405
    const sender = webhookSender(headers)
    if (!sender) return 400
    if (running >= MAX_AT_ONCE) return 503
    running += 1
    try {
      const secret = await secretOf(sender.secretKey)
      const check = checkWebhook(headers, secret ?? '')
      const chunks: Uint8Array[] = []
      let size = 0
      for await (const chunk of request as AsyncIterable<Uint8Array>) {
        size += chunk.byteLength
        if (size > MAX_BODY) return 413
        check.update(chunk)
        chunks.push(chunk)
      }
      // A call without a secret on the hub is refused, too.
      if (secret === undefined || !check.isGenuine()) return 401
      const body = parse(chunks)
      if (body === undefined) return 400
      const event = readEvent(sender, headers, body)
      if (event && !isRecent(event)) await follow(event)
      return 200
    } finally {
      running -= 1
    }
  }

  async function secretOf(key: string): Promise<string | undefined> {
    try {
      const { data = {}, metadata } = await client.get(Secret, SECRET)
      // Argo CD reads only objects with this label, and so does the hub.
      if (metadata.labels?.['app.kubernetes.io/part-of'] !== 'argocd') return undefined
      const value = Object.hasOwn(data, key) ? data[key] : undefined
      return value === undefined ? undefined : fromUtf8(fromBase64(value)).trim()
    } catch (caught) {
      if (isApiError(caught, 'NotFound')) return undefined
      throw caught
    }
  }

  function isRecent({ kind, url, ref }: RepositoryEvent): boolean {
    const key = `${kind} ${url} ${ref}`
    const now = clock.monotonicMs()
    if (now - (seen.get(key) ?? -Infinity) < EVERY_MS) return true
    seen.delete(key)
    seen.set(key, now)
    if (seen.size > MAX_REMEMBERED) seen.delete(seen.keys().next().value!)
    return false
  }

  async function follow(event: RepositoryEvent): Promise<void> {
    if (event.kind === 'PullRequest') {
      const sets = (await client.list(ApplicationSet)).items.filter(({ spec }) =>
        concernsSet(spec['generators'], event),
      )
      const body = { metadata: { annotations: { [REFRESH_SET]: 'true' } } }
      for (const { metadata } of sets) {
        const key = { namespace: metadata.namespace ?? '', name: metadata.name }
        await ignoringGone(client.patch(ApplicationSet, key, { type: 'merge', body }, MANAGER))
      }
      log.info({ repository: event.url, sets: sets.length }, 'webhook of a pull request received')
      return
    }
    const sources = (await client.list(Source)).items.filter((one) => isOfArgo(one) && concernsSource(one.spec, event))
    const token = `webhook ${formatTime(clock.now())} ${Math.round(clock.monotonicMs())}`
    const body = { metadata: { annotations: { [POLL_ANNOTATION]: token } } }
    for (const { metadata } of sources) {
      const key = { namespace: metadata.namespace ?? '', name: metadata.name }
      await ignoringGone(client.patch(Source, key, { type: 'merge', body }, MANAGER))
    }
    log.info({ repository: event.url, ref: event.ref, sources: sources.length }, 'webhook of a push received')
  }

  return { path: PATH, statusOf }
}

/** Sources of other owners have webhooks of their own. */
function isOfArgo({ metadata }: Source): boolean {
  return (metadata.ownerReferences ?? []).some(({ apiVersion }) => apiVersion.startsWith('argoproj.io/'))
}

async function ignoringGone(write: Promise<unknown>): Promise<void> {
  try {
    await write
  } catch (caught) {
    if (!isApiError(caught, 'NotFound')) throw toError(caught)
  }
}

function parse(chunks: readonly Uint8Array[]): unknown {
  try {
    return JSON.parse(fromUtf8(concatBytes(chunks))) as unknown
  } catch {
    return undefined
  }
}
