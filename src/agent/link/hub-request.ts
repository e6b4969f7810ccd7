// Tested by src/agent/link/link.contract.test.ts
/** A request to the gateway: the headers of every request, a deadline, and refusals told apart by what to do next. */
import type { Static, TSchema } from 'typebox'
import { deadline } from '../../core/async/deadline.ts'
import { compact } from '../../core/compact.ts'
import type { Clock } from '../../core/time/clock.ts'
import { readBody } from '../../core/http.ts'
import type { HttpResponse, Transport } from '../../core/http.ts'
import { readWholeNumber } from '../../core/read-number.ts'
import { TIME_HEADER } from '../../wire/link/clock-skew.ts'
import { INSTANCE_HEADER, RefusalAnswer } from '../../wire/link/frames.ts'
import { LIMITS } from '../../wire/limits.ts'
import { parseJson } from '../../wire/validate.ts'
import { REQUEST_TIMING } from '../timing.ts'

/** The gateway answered with another status than 200 or 206. */
export class HubRefusal extends Error {
  override readonly name = 'HubRefusal'
  readonly status: number
  readonly retryAfterMs: number | undefined

  constructor(status: number, message: string, retryAfterMs?: number) {
    super(message)
    this.status = status
    this.retryAfterMs = retryAfterMs
  }
}

/** Ports of requests. */
export interface HubRequestPorts {
  readonly transport: Transport
  readonly clock: Clock
  /** Identifies this start of the agent. */
  readonly instance: string
  /** The hub does not accept the certificate, or no longer. */
  readonly onUnauthorized?: (refusal: HubRefusal) => void
}

/** A method and a path, with a body for POST. */
export interface HubRoute {
  readonly method: string
  readonly path: string
  readonly body?: Uint8Array
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends requests over a transport. */
export function createHubRequests({ transport, clock, instance, onUnauthorized }: HubRequestPorts) {
  async function send({ method, path, body, headers }: HubRoute, signal: AbortSignal): Promise<HttpResponse> {
    const all: Record<string, string> = {
      ...headers,
      [INSTANCE_HEADER]: instance,
      [TIME_HEADER]: String(Math.round(clock.now())),
      ...compact({ 'content-type': body ? 'application/json' : undefined }),
    }
    const response = await transport({ method, path, headers: all, ...compact({ body }) }, signal)
    if (response.status === 200 || response.status === 206) return response
    const refusal = await readRefusal(path, response)
    if (response.status === 401) onUnauthorized?.(refusal)
    throw refusal
  }

  function bytes(
    route: HubRoute,
    limit: { readonly ms: number; readonly maxBytes: number },
    signal: AbortSignal,
  ): Promise<Uint8Array> {
    const what = `${route.method} ${route.path}`
    return deadline({ clock, ms: limit.ms, signal, what }, async (inner) => {
      const response = await send(route, inner)
      return readBody(response.body, limit.maxBytes)
    })
  }

  async function json<S extends TSchema>(
    route: HubRoute,
    answer: { readonly schema: S; readonly maxBytes: number },
    signal: AbortSignal,
  ): Promise<Static<S>> {
    const found = await bytes(route, { ms: REQUEST_TIMING.answerMs, maxBytes: answer.maxBytes }, signal)
    return parseJson(answer.schema, found, { what: `answer of ${route.path}`, maxBytes: answer.maxBytes })
  }

  return { send, bytes, json }
}

/** Requests over a transport. */
export type HubRequests = ReturnType<typeof createHubRequests>

async function readRefusal(path: string, response: HttpResponse): Promise<HubRefusal> {
  const seconds = readWholeNumber(response.headers['retry-after'] ?? '') ?? 0
  const retryAfterMs = seconds > 0 ? Math.min(seconds, 3600) * 1000 : undefined
  let message = `${path.split('?')[0]}: the hub answered ${response.status}`
  try {
    const bytes = await readBody(response.body, LIMITS.answerBytes)
    const answer = parseJson(RefusalAnswer, bytes, { what: 'refusal', maxBytes: LIMITS.answerBytes })
    message = answer.message.slice(0, LIMITS.messageChars)
  } catch {
    // A proxy answered, not the hub: the status is all that is known.
  }
  return new HubRefusal(response.status, message, retryAfterMs)
}
