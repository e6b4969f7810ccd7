/**
 * The demo's change board: a webhook that a gate of the rollout plan asks; it says no while a store of the ring is
 * broken.
 */
import { isObject } from '../../core/json.ts'
import type { Logger } from '../../core/log.ts'
import { parseAddress } from '../../hub/http/listen-address.ts'
import { listenOn } from '../../hub/http/listen.ts'
import { createPlainServer } from '../../hub/http/plain-server.ts'
import { sentJson } from './sent-json.ts'
import type { Site } from './site.ts'

/** A board that answers. */
export interface ChangeBoard {
  /** `127.0.0.1:PORT`. */
  readonly host: string
  readonly url: string
  close(): Promise<void>
}

const MAX_BYTES = 16 * 1024

/** What a board is made of. */
export interface ChangeBoardOptions {
  /** `127.0.0.1:PORT`, where port 0 picks a free one. */
  readonly listen: string
  /** Asked with each question. */
  readonly sites: () => readonly Pick<Site, 'store' | 'isBroken'>[]
  readonly log: Logger
}

/** Opens the board. */
export async function openChangeBoard({ listen, sites, log }: ChangeBoardOptions): Promise<ChangeBoard> {
  const server = createPlainServer({
    name: 'change board',
    log,
    async answer(request, response) {
      const answer = answerTo(await sentJson(request, MAX_BYTES), sites())
      response.writeHead(answer ? 200 : 400, { 'content-type': 'application/json' })
      response.end(JSON.stringify(answer ?? { message: 'no question of a gate' }))
    },
  })
  const { port, close } = await listenOn(server, { host: '127.0.0.1', port: parseAddress(listen).port })
  const host = `127.0.0.1:${port}`
  return { host, url: `http://${host}/`, close }
}

function answerTo(question: unknown, sites: readonly Pick<Site, 'store' | 'isBroken'>[]): object | undefined {
  if (!isObject(question) || question['kind'] !== 'GateQuestion') return undefined
  const broken = sites.filter(({ store, isBroken }) => store.ring === question['ring'] && isBroken())
  if (broken.length === 0) return { allowed: true }
  return { allowed: false, message: `${broken.map(({ store }) => store.name).join(', ')} cannot pull images` }
}
