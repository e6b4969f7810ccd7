/** One HTTP exchange with limits on time and size; the port of the S3 client. */
import request from 'undici/lib/api/api-request.js'
import Agent from 'undici/lib/dispatcher/agent.js'
import { compact } from '../../core/compact.ts'
import { readBody } from '../../core/http.ts'
import { readWholeNumber } from '../../core/read-number.ts'

export interface PlainRequest {
  /** `https://HOST[:PORT]`. */
  readonly origin: string
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array | undefined
  /** A larger answer is an error. */
  readonly maxBytes: number
}

export interface PlainAnswer {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Uint8Array
}

/** Sends a request; answers of any status are returned. Redirects are answers. */
export type SendHttp = (request: PlainRequest, signal: AbortSignal) => Promise<PlainAnswer>

/** Sockets that are kept between requests. */
export interface HttpSockets {
  readonly send: SendHttp
  close(): Promise<void>
}

const CONNECT_MS = 5_000
/** A server that sends nothing for this long is taken as gone. */
const SILENCE_MS = 15_000
const CONNECTIONS = 32

export function openHttpSockets({ ca }: { readonly ca?: string | undefined }): HttpSockets {
  const agent = new Agent({
    allowH2: false,
    connections: CONNECTIONS,
    headersTimeout: SILENCE_MS,
    bodyTimeout: SILENCE_MS,
    connect: { timeout: CONNECT_MS, ...compact({ ca }) },
  })
  return {
    send: async ({ origin, method, path, headers, body, maxBytes }, signal) => {
      const options = { origin, method, path, headers, body: body ?? null, signal }
      const answer = await request.call(agent, options)
      // An aborted body emits an error, and an error without a listener would end the process.
      answer.body.on('error', () => {})
      const length = readWholeNumber(String(answer.headers['content-length'] ?? ''))
      if (method !== 'HEAD' && length !== undefined && length > maxBytes) {
        answer.body.destroy()
        throw new RangeError(`the answer has ${length} bytes; at most ${maxBytes} are read`)
      }
      return { status: answer.statusCode, headers: answer.headers, body: await readBody(answer.body, maxBytes) }
    },
    close: () => agent.destroy(),
  }
}
