// Tested by src/hub/http/argo-webhook.contract.test.ts and fleet-webhook.contract.test.ts
/**
 * A door for webhooks that name their repository: a genuine call asks for a fetch of the Sources of one dialect that
 * use the repository.
 */
import type { IncomingMessage } from 'node:http'
import type { Client } from '../../client/client.ts'
import { POLL_ANNOTATION } from '../../controllers/source-fetch/reconcile.ts'
import { concatBytes, fromBase64, fromUtf8 } from '../../core/bytes.ts'
import { isApiError, toError } from '../../core/errors.ts'
import type { Logger } from '../../core/log.ts'
import type { Clock } from '../../core/time/clock.ts'
import { formatTime } from '../../core/time/time.ts'
import { Secret } from '../../kinds/builtin/core.ts'
import { Source } from '../../kinds/native/source.ts'
import { concernsSource, readEvent, webhookSender } from '../../source/webhook/repository-event.ts'
import type { RepositoryEvent, WebhookSender } from '../../source/webhook/repository-event.ts'
import { checkWebhook } from '../../source/webhook/verify-webhook.ts'

/** What a door needs. */
export interface RepositoryWebhookOptions {
  readonly client: Pick<Client, 'get' | 'list' | 'patch'>
  readonly clock: Clock
  readonly log: Logger
}

/** What differs between the doors of dialects. */
export interface RepositoryWebhookRules {
  readonly path: string
  /** The Secret of the dialect's users with the secrets of webhooks. */
  readonly secret: { readonly namespace: string; readonly name: string }
  /** The key of a sender in this Secret. */
  readonly keys: Readonly<Record<WebhookSender, string>>
  /** Whether the Secret may be used. */
  isUsable?(secret: Secret): boolean
  /** Whether the door is for this Source; those of other owners have webhooks of their own. */
  concerns(source: Source): boolean
  /** Follows a change of a pull request. */
  followPullRequest?(event: RepositoryEvent): Promise<void>
}

/** A door. */
export interface RepositoryWebhook {
  readonly path: string
  /** Answers a call with a status. */
  statusOf(request: IncomingMessage, headers: Headers): Promise<number>
}

/** The body is kept until its signature is checked. */
const MAX_BODY = 4 * 1024 * 1024
const MAX_AT_ONCE = 4
/** A ref of a repository is looked for at most once in this time. */
const EVERY_MS = 2000
const MAX_REMEMBERED = 10_000
/** Field manager of the annotations that a webhook sets. */
export const WEBHOOK_MANAGER = { fieldManager: 'flotilla-webhook' }

type Headers = Readonly<Record<string, string | undefined>>

/** Creates a door. */
export function createRepositoryWebhook(
  rules: RepositoryWebhookRules,
  { client, clock, log }: RepositoryWebhookOptions,
): RepositoryWebhook {
  const seen = new Map<string, number>()
  let running = 0

  async function statusOf(request: IncomingMessage, headers: Headers): Promise<number> {
    if (request.method !== 'POST') return 405
    const sender = webhookSender(headers)
    if (!sender) return 400
    if (running >= MAX_AT_ONCE) return 503
    running += 1
    try {
      const secret = await secretOf(rules.keys[sender])
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
      const found = await client.get(Secret, rules.secret)
      if (rules.isUsable && !rules.isUsable(found)) return undefined
      const { data = {} } = found
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
    if (event.kind === 'PullRequest') return await rules.followPullRequest?.(event)
    const sources = (await client.list(Source)).items.filter(
      (one) => rules.concerns(one) && concernsSource(one.spec, event),
    )
    const token = `webhook ${formatTime(clock.now())} ${Math.round(clock.monotonicMs())}`
    const body = { metadata: { annotations: { [POLL_ANNOTATION]: token } } }
    for (const { metadata } of sources) {
      const key = { namespace: metadata.namespace ?? '', name: metadata.name }
      await ignoringGone(client.patch(Source, key, { type: 'merge', body }, WEBHOOK_MANAGER))
    }
    log.info({ repository: event.url, ref: event.ref, sources: sources.length }, 'webhook of a push received')
  }

  return { path: rules.path, statusOf }
}

/** Whether the Source was made for an object of this API group. */
export function isOwnedByGroup({ metadata }: Source, group: string): boolean {
  return (metadata.ownerReferences ?? []).some(({ apiVersion }) => apiVersion.startsWith(`${group}/`))
}

/** Ignores that an object was deleted meanwhile. */
export async function ignoringGone(write: Promise<unknown>): Promise<void> {
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
