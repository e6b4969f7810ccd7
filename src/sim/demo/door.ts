/** The demo's door: a socket in its own directory, which only its owner may enter, where situations are asked for. */
import { chmod } from 'node:fs/promises'
import { toError } from '../../core/errors.ts'
import { isObject } from '../../core/json.ts'
import { createServer } from '../../hub/node-http.ts'
import { PlayRefused, SITUATIONS } from './plays.ts'
import type { Play, Plays } from './plays.ts'

const MAX_BYTES = 4096

/** Opens the door at a path. */
export async function openDoor(path: string, plays: Plays): Promise<{ close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const answer = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
      response.end(JSON.stringify(body))
    }
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= MAX_BYTES) chunks.push(chunk)
    })
    request.on('end', () => {
      const play = size <= MAX_BYTES ? readPlay(Buffer.concat(chunks).toString('utf8')) : undefined
      if (!play) return answer(400, { refused: 'no such situation' })
      plays(play).then(
        (played) => answer(200, played),
        (caught: unknown) => answer(caught instanceof PlayRefused ? 409 : 500, { refused: toError(caught).message }),
      )
    })
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

function readPlay(text: string): Play | undefined {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isObject(body)) return undefined
  const situation = SITUATIONS.find((known) => known === body['situation'])
  const { target, undo } = body
  if (situation === undefined || (target !== undefined && typeof target !== 'string')) return undefined
  return { situation, undo: undo === true, ...(target === undefined ? {} : { target }) }
}
