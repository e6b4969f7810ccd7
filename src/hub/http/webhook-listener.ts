/** The door for git servers: a genuine call says "ask this source now", and nothing else is read from it. */
import type { IncomingMessage } from 'node:http'
import type { Client } from '../../client/client.ts'
import { POLL_ANNOTATION } from '../../controllers/source-fetch/reconcile.ts'
import { fromBase64, fromUtf8 } from '../../core/bytes.ts'
import type { Clock } from '../../core/time/clock.ts'
import { isApiError, toError } from '../../core/errors.ts'
import type { Logger } from '../../core/log.ts'
import { formatTime } from '../../core/time/time.ts'
import { Secret } from '../../kinds/builtin/core.ts'
import { Source } from '../../kinds/native/source.ts'
import { checkWebhook, tokenKeys } from '../../source/webhook/verify-webhook.ts'
import type { ListenAddress } from './listen-address.ts'
import { listenOn } from './listen.ts'
import { createPlainServer } from './plain-server.ts'
import type { RepositoryWebhook } from './repository-webhook.ts'

/** What the listener needs. */
export interface WebhookOptions {
  readonly listen: ListenAddress
  readonly client: Pick<Client, 'get' | 'patch'>
  readonly clock: Clock
  readonly log: Logger
  /** Doors of the dialects that are served. */
  readonly doors?: readonly RepositoryWebhook[]
}

/** A listener that is ready. */
export interface WebhookListener {
  readonly port: number
  close(): Promise<void>
}

/** GitHub sends up to 25 MB. */
const MAX_BODY = 26 * 1024 * 1024
/** A source is hinted at most once in this time; a storm of pushes is one question. */
const EVERY_MS = 2000
const MAX_REMEMBERED = 10_000
const PATH = /^\/hooks\/([a-z0-9][a-z0-9-]{0,62})\/([a-z0-9][a-z0-9.-]{0,252})$/

/** Starts the listener. */
export async function listenForWebhooks({
  listen,
  client,
  clock,
  log,
  doors = [],
}: WebhookOptions): Promise<WebhookListener> {
  const hinted = new Map<string, number>()

  async function statusOf(request: IncomingMessage, path: string): Promise<number> {
    const door = doors.find((one) => one.path === path)
    if (door) return await door.statusOf(request, plainHeaders(request))
    if (request.method !== 'POST') return 405
    const match = PATH.exec(path)
    if (!match) return 404
    const [, namespace = '', name = ''] = match
    const headers = plainHeaders(request)
    const token = await tokenOf(namespace, name, tokenKeys(headers))
    const check = checkWebhook(headers, token ?? '')
    let size = 0
    for await (const chunk of request as AsyncIterable<Uint8Array>) {
      size += chunk.byteLength
      if (size > MAX_BODY) return 413
      check.update(chunk)
    }
    // An unknown source and a wrong signature look the same from outside.
    if (token === undefined || !check.isGenuine()) return 401
    await hint(namespace, name)
    return 202
  }

  async function tokenOf(namespace: string, name: string, keys: readonly string[]): Promise<string | undefined> {
    try {
      const source = await client.get(Source, { namespace, name })
      const secret = source.spec.webhook?.secret
      if (secret === undefined) return undefined
      const { data = {} } = await client.get(Secret, { namespace, name: secret })
      const key = keys.find((one) => Object.hasOwn(data, one))
      const token = key === undefined ? undefined : data[key]
      return token === undefined ? undefined : fromUtf8(fromBase64(token)).trim()
    } catch (caught) {
      if (isApiError(caught, 'NotFound')) return undefined
      throw caught
    }
  }

  async function hint(namespace: string, name: string): Promise<void> {
    const key = `${namespace}/${name}`
    const now = clock.monotonicMs()
    if (now - (hinted.get(key) ?? -Infinity) < EVERY_MS) return
    hinted.delete(key)
    hinted.set(key, now)
    if (hinted.size > MAX_REMEMBERED) hinted.delete(hinted.keys().next().value!)
    const body = {
      metadata: { annotations: { [POLL_ANNOTATION]: `webhook ${formatTime(clock.now())} ${Math.round(now)}` } },
    }
    await client.patch(Source, { namespace, name }, { type: 'merge', body }, { fieldManager: 'flotilla-webhook' })
    log.info({ source: key }, 'webhook received')
  }

  const server = createPlainServer({
    name: 'webhook',
    log,
    async answer(request, response, { path }) {
      const status = await statusOf(request, path).catch((caught: unknown) => {
        if (request.destroyed && !request.complete) throw caught
        log.error({ err: toError(caught) }, 'a webhook could not be served')
        return 503
      })
      request.resume()
      response.writeHead(status, { connection: 'close' }).end()
    },
  })
  return await listenOn(server, listen)
}

function plainHeaders(request: IncomingMessage): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
  )
}
