/** The demo's change board: a webhook that a gate of the rollout plan asks; it says no while a store of the ring is broken. */
import type { AddressInfo } from 'node:net'
import { isObject } from '../../core/json.ts'
import { createServer } from '../../hub/node-http.ts'
import type { Site } from './site.ts'

/** A board that answers. */
export interface ChangeBoard {
  /** `127.0.0.1:PORT`. */
  readonly host: string
  readonly url: string
  close(): Promise<void>
}

const MAX_BYTES = 16 * 1024

/** Opens the board at an address, where port 0 picks a free one; `sites` is asked with each question. */
export async function openChangeBoard(
  listen: string,
  sites: () => readonly Pick<Site, 'store' | 'isBroken'>[],
): Promise<ChangeBoard> {
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (part: string) => {
      if (text.length <= MAX_BYTES) text += part
    })
    request.on('end', () => {
      const answer = answerTo(text, sites())
      response.writeHead(answer ? 200 : 400, { 'content-type': 'application/json' })
      response.end(JSON.stringify(answer ?? { message: 'no question of a gate' }))
    })
  })
  await new Promise<void>((opened, failed) => {
    server.once('error', failed)
    server.listen({ host: '127.0.0.1', port: Number(new URL(`http://${listen}`).port) }, opened)
  })
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    host,
    url: `http://${host}/`,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed())
        server.closeAllConnections()
      }),
  }
}

function answerTo(text: string, sites: readonly Pick<Site, 'store' | 'isBroken'>[]): object | undefined {
  let question: unknown
  try {
    question = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isObject(question) || question['kind'] !== 'GateQuestion') return undefined
  const broken = sites.filter(({ store, isBroken }) => store.ring === question['ring'] && isBroken())
  if (broken.length === 0) return { allowed: true }
  return { allowed: false, message: `${broken.map(({ store }) => store.name).join(', ')} cannot pull images` }
}
