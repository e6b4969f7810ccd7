/** Answers of the console: the headers that every one has, and the forms of a body. */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'

const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const

/** Headers of every answer. Style elements, which libraries make, need the nonce of their document. */
export function consoleHeaders(nonce?: string): Record<string, string> {
  const style = nonce === undefined ? "style-src 'self'" : `style-src 'self' 'nonce-${nonce}'`
  return {
    'content-security-policy': `default-src 'none'; script-src 'self'; ${style}; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    ...SECURITY_HEADERS,
  }
}

/** Answers with text. */
export function sendText(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Readonly<Record<string, string | string[]>> = {},
): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...consoleHeaders(), ...headers })
  response.end(body)
}

/** Answers with JSON. */
export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  sendText(response, status, JSON.stringify(value), { 'content-type': 'application/json' })
}

/** Answers with a failure as the Kubernetes API writes one, so that the page has one reader for both. */
export function sendFailure(response: ServerResponse, code: number, reason: string, message: string): void {
  sendJson(response, code, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message })
}

/**
 * Whether a page of another origin made the browser ask. Browsers say so in Sec-Fetch-Site; other programs send no
 * such header. All ports of a host are one site, so that `same-site` is another origin, too. A person who follows a
 * link to a page is let in, as from a ticket with a sign-in address: the answer is a document of its own, the other
 * page can neither read nor frame it, nothing is changed but by a code that the link must know, and the strict cookie
 * does not come along from another site.
 */
export function isForeign(headers: IncomingHttpHeaders, isPage: boolean): boolean {
  const site = headers['sec-fetch-site']
  if (site === undefined || site === 'same-origin' || site === 'none') return false
  const isVisit = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
  return !(isVisit && isPage)
}
