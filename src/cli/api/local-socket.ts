/** Asks a program of this machine and user through the socket it has in a directory of theirs. */
import { request } from 'node:http'

/** What it answered. */
export interface SocketAnswer {
  readonly status: number
  readonly text: string
}

/** Posts to a path behind the socket. */
export function postToSocket(socketPath: string, path: string, body = ''): Promise<SocketAnswer> {
  return new Promise((answered, failed) => {
    const asking = request({ socketPath, method: 'POST', path }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => (text += part))
      response.on('error', failed)
      response.on('end', () => answered({ status: response.statusCode ?? 0, text }))
    })
    asking.on('error', failed)
    asking.end(body)
  })
}
