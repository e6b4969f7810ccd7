/** The demo's door: a socket in its own directory, which only its owner may enter, where situations are asked for. */
import { chmod } from 'node:fs/promises'
import { compact } from '../../core/compact.ts'
import { toError } from '../../core/errors.ts'
import { isObject } from '../../core/json.ts'
import type { Logger } from '../../core/log.ts'
import { createPlainServer } from '../../hub/http/plain-server.ts'
import { SituationRefused, SITUATIONS } from './situations.ts'
import type { SituationRequest, RunSituation } from './situations.ts'
import { sentJson } from './sent-json.ts'

const MAX_BYTES = 4096

/** What is behind the door. */
export interface DoorOptions {
  readonly plays: RunSituation
  readonly log: Logger
}

/** Opens the door at a path. */
export async function openControlSocket(
  path: string,
  { plays, log }: DoorOptions,
): Promise<{ close(): Promise<void> }> {
  const server = createPlainServer({
    name: 'demo socket',
    log,
    async answer(request, response) {
      const answer = (status: number, body: object): void => {
        response.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
        response.end(JSON.stringify(body))
      }
      const play = readPlay(await sentJson(request, MAX_BYTES))
      if (!play) return answer(400, { refused: 'no such situation' })
      try {
        answer(200, await plays(play))
      } catch (caught) {
        answer(caught instanceof SituationRefused ? 409 : 500, { refused: toError(caught).message })
      }
    },
  })
  await new Promise<void>((opened, failed) => {
    server.once('error', failed)
    server.listen(path, opened)
  })
  await chmod(path, 0o600)
  return {
    close: () =>
      new Promise((closed) => {
        server.close(() => closed())
        server.closeAllConnections()
      }),
  }
}

function readPlay(body: unknown): SituationRequest | undefined {
  if (!isObject(body)) return undefined
  const situation = SITUATIONS.find((known) => known === body['situation'])
  const { target, undo } = body
  if (situation === undefined || (target !== undefined && typeof target !== 'string')) return undefined
  return compact({ situation, undo: undo === true, target })
}
