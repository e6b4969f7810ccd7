/** A browser without pages: it keeps the cookies of each host and follows redirects. */
import { request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'
import type { IncomingMessage } from 'node:http'

export interface Visit {
  readonly url: string
  readonly status: number
  readonly text: string
}

export interface CookieBrowser {
  /** Opens an address and follows redirects. */
  open(url: string): Promise<Visit>
}

const MAX_REDIRECTS = 10

export function newBrowser(ca: string): CookieBrowser {
  const jars = new Map<string, Map<string, string>>()

  async function get(url: URL): Promise<IncomingMessage> {
    const cookies = [...(jars.get(url.host) ?? [])].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers: Record<string, string> = cookies === '' ? {} : { cookie: cookies }
    return await new Promise((answered, failed) => {
      const asked =
        url.protocol === 'https:'
          ? overHttps(url, { ca, headers, agent: false })
          : overHttp(url, { headers, agent: false })
      asked.on('response', answered).on('error', failed).end()
    })
  }

  function keep(host: string, lines: readonly string[] = []): void {
    const jar = jars.get(host) ?? new Map<string, string>()
    jars.set(host, jar)
    for (const line of lines) {
      const pair = line.split(';')[0]!
      const at = pair.indexOf('=')
      if (pair.slice(at + 1) === '') jar.delete(pair.slice(0, at))
      else jar.set(pair.slice(0, at), pair.slice(at + 1))
    }
  }

  return {
    open: async (first) => {
      let url = new URL(first)
      for (let left = MAX_REDIRECTS; ; left -= 1) {
        const answer = await get(url)
        keep(url.host, answer.headers['set-cookie'])
        let text = ''
        for await (const chunk of answer.setEncoding('utf8')) text += String(chunk)
        const location = answer.headers.location ?? ''
        if (location === '' || left === 0) return { url: url.href, status: answer.statusCode ?? 0, text }
        url = new URL(location, url)
      }
    },
  }
}
